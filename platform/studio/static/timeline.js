// The bar under the picture: what was said, marks, what is loaded, and the cursor. Moving over it scrubs.
const NS = 'http://www.w3.org/2000/svg';
const LEFT = 80;
const RIGHT = 14;

/** @param {string} name @param {Object<string, any>} given @param {string} [title] */
function svg(name, given, title) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, String(value));
  if (title) {
    const text = document.createElementNS(NS, 'title');
    text.textContent = title;
    element.append(text);
  }
  return element;
}

/** A triangle, up for progress and down for a slip. @param {number} x @param {number} y @param {number} sign */
export function triangle(x, y, sign, chosen = false) {
  const size = chosen ? 10 : 8;
  const points = sign > 0
    ? `${x - size},${y + size * 0.8} ${x + size},${y + size * 0.8} ${x},${y - size * 0.8}`
    : `${x - size},${y - size * 0.8} ${x + size},${y - size * 0.8} ${x},${y + size * 0.8}`;
  return svg('polygon', { points, class: `${sign > 0 ? 'progress' : 'slip'}${chosen ? ' chosen' : ''}` });
}

export class Timeline {
  /**
   * @param {SVGSVGElement} element
   * @param {{said: string, loaded: string}} names of the lanes
   */
  constructor(element, names) {
    this.element = element;
    this.names = names;
    this.frames = 1;
    this.width = 800;
  }

  /** @param {number} frame */
  x(frame) {
    return LEFT + (frame / this.frames) * (this.width - LEFT - RIGHT);
  }

  /** The frame under a point of the window. @param {number} clientX */
  frameAt(clientX) {
    const box = this.element.getBoundingClientRect();
    const at = ((clientX - box.left) / box.width) * this.width;
    return Math.round(Math.max(0, Math.min(1, (at - LEFT) / (this.width - LEFT - RIGHT))) * this.frames);
  }

  /**
   * Draws everything anew.
   * @param {{frames: number, cursor: number, dialogue: any[], lanes: {name: string, marks: any[], chosen?: string}[],
   *   loaded: [number, number][]}} state
   */
  draw(state) {
    this.frames = Math.max(1, state.frames);
    this.width = Math.max(260, this.element.clientWidth || 800);
    const lanes = state.lanes;
    const height = 34 + 34 * lanes.length + 30;
    this.element.setAttribute('viewBox', `0 0 ${this.width} ${height}`);
    this.element.setAttribute('height', String(height));
    const parts = [this.label(this.names.said, 22)];
    for (const spoken of state.dialogue) {
      parts.push(svg('rect', { x: this.x(spoken.frame) - 3, y: spoken.role === 'solver' ? 19 : 7, width: 6, height: spoken.role === 'world' ? 22 : 10, rx: 2, class: spoken.role }, spoken.text));
    }
    lanes.forEach((lane, number) => {
      const y = 48 + 34 * number;
      parts.push(this.label(lane.name, y + 4));
      parts.push(svg('line', { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y, class: 'line' }));
      for (const mark of lane.marks) parts.push(triangle(this.x(mark.frame), y, mark.sign, mark.id === lane.chosen));
    });
    const bottom = height - 20;
    parts.push(this.label(this.names.loaded, bottom + 5));
    parts.push(svg('rect', { x: LEFT, y: bottom - 3, width: this.width - LEFT - RIGHT, height: 7, rx: 3, class: 'empty' }));
    for (const [from, to] of state.loaded) {
      parts.push(svg('rect', { x: this.x(from), y: bottom - 3, width: Math.max(1, this.x(to) - this.x(from)), height: 7, class: 'full' }));
    }
    const at = this.x(state.cursor);
    parts.push(svg('line', { x1: at, x2: at, y1: 4, y2: height - 6, class: 'cursor' }));
    for (const [name, value] of [['min', 0], ['max', state.frames], ['now', state.cursor]]) {
      this.element.setAttribute(`aria-value${name}`, String(value));
    }
    this.element.replaceChildren(...parts);
  }

  /** @param {string} text @param {number} y */
  label(text, y) {
    const element = svg('text', { x: LEFT - 14, y, class: 'label' });
    element.textContent = text;
    return element;
  }
}
