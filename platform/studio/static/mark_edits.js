// The marks of one recording, with undo and redo. Holds no page and sends nothing itself.
import { newId } from './dom.js';

/** @typedef {{id: string, shown: number, sign: number, utterance: number|null, by?: string}} Mark */
/** @typedef {{added: Mark[], removed: Mark[]}} Edit */

export class MarkEdits {
  /**
   * @param {Mark[]} marks those that are kept already
   * @param {(edit: Edit) => void} onEdit called with what each edit adds and removes
   */
  constructor(marks, onEdit) {
    this.marks = marks;
    this.onEdit = onEdit;
    this.chosen = '';
    /** @type {Edit[]} */ this.past = [];
    /** @type {Edit[]} */ this.future = [];
  }

  /** Marks a moment. @param {number} shown @param {number} sign @param {string} by */
  moment(shown, sign, by) {
    const mark = { id: newId(), shown, sign, utterance: null, by };
    this.chosen = mark.id;
    this.#edit([mark], []);
  }

  /** Marks an utterance, instead of its mark of the other sign; the same sign again takes the mark away.
   * @param {number} number @param {number} shown @param {number} sign */
  utterance(number, shown, sign) {
    const before = this.marks.filter((mark) => mark.utterance === number);
    const same = before.some((mark) => mark.sign === sign);
    this.#edit(same ? [] : [{ id: newId(), shown, sign, utterance: number }], before);
  }

  /** Adopts an edit of another tab, which alone can undo it. A mark on an utterance replaces the earlier one.
   * @param {Edit} edit */
  adopt({ added, removed }) {
    const gone = new Set(removed.map((mark) => mark.id));
    const signed = new Set(added.map((mark) => mark.utterance));
    const isReplaced = (/** @type {Mark} */ mark) => mark.utterance !== null && signed.has(mark.utterance);
    this.marks = [...this.marks.filter((mark) => !gone.has(mark.id) && !isReplaced(mark)), ...added];
  }

  /** Shows the marks that the studio keeps instead; whether these are others. @param {Mark[]} marks */
  showKept(marks) {
    const ids = (/** @type {Mark[]} */ list) => list.map(({ id }) => id).sort().join();
    if (ids(marks) === ids(this.marks)) return false;
    this.marks = marks;
    return true;
  }

  /** Drops a mark that was not kept, also from what can be undone. @param {string} id */
  forget(id) {
    const kept = (/** @type {Mark} */ mark) => mark.id !== id;
    this.marks = this.marks.filter(kept);
    for (const edits of [this.past, this.future]) {
      for (const edit of edits) Object.assign(edit, { added: edit.added.filter(kept), removed: edit.removed.filter(kept) });
    }
    this.past = this.past.filter(({ added, removed }) => added.length + removed.length);
    this.future = this.future.filter(({ added, removed }) => added.length + removed.length);
  }

  undo() {
    this.#turn(this.past, this.future);
  }

  redo() {
    this.#turn(this.future, this.past);
  }

  /** The chosen mark if it is at a picture, or else the one of a moment that is nearest to it. @param {number} frame */
  nearest(frame) {
    const moments = this.marks.filter((mark) => mark.utterance === null);
    const found = moments.find((mark) => mark.id === this.chosen && mark.shown === frame);
    return found ?? moments.sort((a, b) => Math.abs(a.shown - frame) - Math.abs(b.shown - frame))[0];
  }

  /** Chooses the next mark before (-1) or after (1) a picture; undefined without one.
   * @param {number} frame @param {number} direction */
  next(frame, direction) {
    const beyond = this.marks.filter((mark) => (mark.shown - frame) * direction > 0);
    const [first] = beyond.sort((a, b) => (a.shown - b.shown) * direction);
    if (first) this.chosen = first.id;
    return first;
  }

  /** @param {Mark} mark @param {number} shown */
  move(mark, shown) {
    const moved = { ...mark, id: newId(), shown };
    this.chosen = moved.id;
    this.#edit([moved], [mark]);
  }

  /** @param {Mark} mark */
  remove(mark) {
    this.#edit([], [mark]);
  }

  /** @param {Mark[]} added @param {Mark[]} removed */
  #edit(added, removed) {
    this.past.push({ added, removed });
    this.future = [];
    this.#apply({ added, removed });
  }

  /** @param {Edit} edit */
  #apply({ added, removed }) {
    const gone = new Set(removed.map((mark) => mark.id));
    this.marks = [...this.marks.filter((mark) => !gone.has(mark.id)), ...added];
    this.onEdit({ added, removed });
  }

  /** Undoes or redoes: a mark that returns is a new one, because an undone one stays undone.
   * @param {Edit[]} from @param {Edit[]} to */
  #turn(from, to) {
    const last = from.pop();
    if (!last) return;
    const back = last.removed.map((mark) => ({ ...mark, id: newId() }));
    const gone = last.added.filter((mark) => this.marks.some((each) => each.id === mark.id));
    this.#rename(last.removed, back);
    to.push({ added: back, removed: gone });
    this.#apply({ added: back, removed: gone });
  }

  /** Later undos find a mark that returned under its new id. @param {Mark[]} old @param {Mark[]} now */
  #rename(old, now) {
    const renamed = (/** @type {Mark} */ mark) => now[old.findIndex((before) => before.id === mark.id)] ?? mark;
    for (const edit of [...this.past, ...this.future]) {
      edit.added = edit.added.map(renamed);
      edit.removed = edit.removed.map(renamed);
    }
  }
}
