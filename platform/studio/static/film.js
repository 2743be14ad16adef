// A film: which picture belongs to which frame, and drawing it. The number shown is always that of the picture shown.
import { bytes, get } from './api.js';
import { sayWait, whenBack } from './waiting.js';
import { word } from './words.js';

const KEPT_BITMAPS = 240;
const LOADING = 2; // chunks asked for at the same time
const AGAIN_MS = 2000; // until a part for which no answer came is asked for again
const FAILURE_MS = 10_000; // until a part that the studio could not draw is asked for again

/** The JPEGs of a pack, as views into it. @param {ArrayBuffer} buffer @returns {Uint8Array[]} */
export function unpack(buffer) {
  const view = new DataView(buffer);
  const count = view.getUint32(0, true);
  const pictures = [];
  for (let i = 0; i < count; i += 1) {
    const start = view.getUint32(4 + 4 * i, true);
    const end = view.getUint32(8 + 4 * i, true);
    pictures.push(new Uint8Array(buffer, start, end - start));
  }
  return pictures;
}

export class Film {
  /**
   * @param {string} base address of the film's parts
   * @param {HTMLCanvasElement} canvas
   * @param {(frame: number) => void} onShown called in the moment in which a picture is drawn
   * @param {() => void} onLoaded called when more is loaded
   * @param {(error: any) => void} onGaps called when full pictures are refused, the small ones stay; and with null once
   *   none is refused any longer, as after another login
   */
  constructor(base, canvas, onShown, onLoaded, onGaps) {
    this.base = base;
    this.canvas = canvas;
    this.onShown = onShown;
    this.onLoaded = onLoaded;
    this.onGaps = onGaps;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    /** @type {any} */ this.plan = null;
    /** @type {Uint8Array[]} */ this.strip = [];
    /** @type {Map<number, Uint8Array[]>} */ this.chunks = new Map();
    /** @type {Set<number>} */ this.loading = new Set();
    /** Errors of chunks that are not asked for now. @type {Map<number, any>} */ this.failed = new Map();
    /** @type {Map<string, ImageBitmap>} */ this.bitmaps = new Map();
    this.wanted = 0;
    this.ahead = 1;
    this.shown = -1;
    this.source = '';
    this.drawn = 0;
    this.seen = new Set();
    this.problem = ''; // why full pictures are missing
    this.closed = false;
    this.ended = new AbortController();
    this.returns = 0; // how often the person came back to the page, perhaps with a new login
    whenBack(() => {
      this.returns += 1;
      this.askAgain([...this.failed.keys()]);
    }, this.ended.signal);
  }

  /** Loads the plan and the strip, whole, then shows the first picture. */
  async open() {
    const plan = await this.untilAnswered(() => get(`${this.base}/film`));
    if (this.closed) return; // the canvas is that of another film now
    this.plan = plan;
    const [height, width] = this.plan.full_size;
    this.canvas.width = width;
    this.canvas.height = height;
    this.strip = unpack(await this.untilAnswered(() => bytes(`${this.base}/strip`)));
    if (this.closed) return;
    this.onLoaded();
    await this.want(0);
    this.load();
  }

  /** Asks again as long as no answer comes, and says so. @param {() => Promise<any>} request @returns {Promise<any>} */
  async untilAnswered(request) {
    try {
      for (;;) {
        const answer = await request().catch((error) => {
          if (this.closed || error.status !== 0) throw error;
          sayWait(this, word('studio.waiting'));
        });
        if (answer) return answer;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    } finally {
      sayWait(this, '');
    }
  }

  close() {
    this.closed = true;
    sayWait(this, '');
    this.ended.abort();
    for (const bitmap of this.bitmaps.values()) bitmap.close();
    this.bitmaps.clear();
  }

  /** The frame of the picture that is nearest to a frame among those that are loaded. @param {number} frame */
  nearest(frame) {
    const { frames, full_every: every, strip_every: step } = this.plan;
    const inside = Math.max(0, Math.min(frames, frame));
    const number = Math.min(this.plan.full_pictures - 1, Math.round(inside / every));
    if (this.chunks.has(Math.floor(number / this.plan.chunk))) return number * every;
    return Math.min(this.plan.rows - 1, Math.round(inside / step)) * step;
  }

  /** Shows the picture nearest to a frame: the small one at once if the full one of that frame is not there yet.
   * @param {number} frame @param {number} [ahead] +1 or -1: the direction in which the next ones are needed */
  async want(frame, ahead = 1) {
    const there = this.nearest(frame);
    this.wanted = there;
    this.ahead = ahead;
    this.load();
    await this.show(there);
    return there;
  }

  /** @param {number} frame a frame that `nearest` gave */
  async show(frame) {
    const full = this.fullPicture(frame);
    const [key, data] = full
      ? [`full ${frame}`, full]
      : [`strip ${frame}`, this.strip[Math.round(frame / this.plan.strip_every)]];
    if (!data || (this.shown === frame && this.source === key.split(' ')[0])) return;
    let bitmap = this.bitmaps.get(key);
    if (!bitmap) {
      bitmap = await createImageBitmap(new Blob([/** @type {any} */ (data)], { type: 'image/jpeg' }));
      if (this.closed) return;
      this.bitmaps.set(key, bitmap);
      if (this.bitmaps.size > KEPT_BITMAPS) {
        const [oldest, old] = /** @type {any} */ (this.bitmaps.entries().next().value);
        this.bitmaps.delete(oldest);
        old.close();
      }
    }
    if (this.wanted !== frame) return; // another one has been asked for since
    if (key.startsWith('strip') && this.shown === frame && this.source === 'full') return;
    this.context.drawImage(bitmap, 0, 0, this.canvas.width, this.canvas.height);
    this.shown = frame;
    this.source = key.split(' ')[0];
    this.drawn += 1;
    this.seen.add(frame);
    this.onShown(frame);
  }

  /** The full picture of exactly this frame, if it is loaded. @param {number} frame */
  fullPicture(frame) {
    const { full_every: every, chunk } = this.plan;
    if (frame % every) return null;
    const number = frame / every;
    return this.chunks.get(Math.floor(number / chunk))?.[number % chunk] ?? null;
  }

  /** Loads chunks: that of the cursor first, then those ahead of it, then the others by distance. */
  load() {
    while (!this.closed && this.loading.size < LOADING) {
      const next = this.nextChunk();
      if (next === null) return;
      this.loading.add(next);
      const { returns } = this;
      bytes(`${this.base}/full/${next}`)
        .then((buffer) => {
          this.chunks.set(next, unpack(buffer));
          if (this.closed) return;
          if (![...this.failed.values()].some(({ status }) => status)) this.sayGaps(null);
          this.onLoaded();
          this.show(this.wanted); // the full picture of the same frame replaces the small one
        })
        .catch((error) => {
          if (error.status === 401 && returns !== this.returns) return; // refused before another login: asked for at once
          this.failed.set(next, error);
          if (!error.status) setTimeout(() => this.askAgain([next]), AGAIN_MS);
          else if (!this.closed) this.sayGaps(error);
          if (error.status >= 500) setTimeout(() => this.askAgain([next]), FAILURE_MS);
        })
        .finally(() => {
          this.loading.delete(next);
          this.load();
        });
    }
  }

  /** @param {number[]} chunks that failed */
  askAgain(chunks) {
    for (const chunk of chunks) this.failed.delete(chunk);
    if (this.plan) this.load();
  }

  /** @param {any} error null: no picture is refused any longer */
  sayGaps(error) {
    const problem = error?.message ?? '';
    if (problem !== this.problem) this.onGaps(error); // screen readers read a message out each time it is shown
    this.problem = problem;
  }

  /** @returns {number|null} */
  nextChunk() {
    const { chunks, chunk, full_every: every } = this.plan;
    const here = Math.floor(this.wanted / every / chunk);
    let best = null;
    let least = Infinity;
    for (let number = 0; number < chunks; number += 1) {
      if (this.chunks.has(number) || this.loading.has(number) || this.failed.has(number)) continue;
      const away = (number - here) * this.ahead;
      const distance = away >= 0 ? away : -away * 2 + 0.5;
      if (distance < least) [best, least] = [number, distance];
    }
    return best;
  }
}
