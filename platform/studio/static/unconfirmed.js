// Utterances that were sent and that the studio has not confirmed; the page shows them and sends them again.
import { make, newId, scrollDown } from './dom.js';
import { word } from './words.js';

const ANSWER_MS = 10_000;

export class Unconfirmed {
  /**
   * @param {HTMLElement} place the list that shows them
   * @param {(message: {id: string, text: string}) => boolean} send sends one; false without a connection
   * @param {() => void} silent no answer has come for a while
   */
  constructor(place, send, silent) {
    this.place = place;
    this.send = send;
    this.silent = silent;
    /** By id, in the order in which they were typed. @type {Map<string, {text: string, line: HTMLElement}>} */
    this.all = new Map();
    this.timer = 0;
  }

  /** Sends an utterance; false without a connection. @param {string} text */
  say(text) {
    const id = newId();
    if (!this.send({ id, text })) return false;
    const line = make('li', { text: word('play.sending', { text }) });
    this.place.append(line);
    scrollDown(this.place);
    this.all.set(id, { text, line });
    if (!this.timer) this.wait();
    return true;
  }

  /** Sends all of them again, over a new connection or to a restarted world; the studio ignores those it has received. */
  sendAgain() {
    for (const [id, { text }] of this.all) this.send({ id, text });
    this.wait();
  }

  /** An utterance was answered. @param {string | undefined} id */
  remove(id) {
    this.all.get(id ?? '')?.line.remove();
    if (this.all.delete(id ?? '')) this.wait();
  }

  /** Removes all of them. @returns {string[]} their texts */
  clear() {
    const texts = [...this.all.values()].map(({ text }) => text);
    this.all.clear();
    this.place.replaceChildren();
    this.wait();
    return texts;
  }

  /** Waits for the next answer from now on, if one is expected. */
  wait() {
    clearInterval(this.timer);
    this.timer = this.all.size ? setInterval(this.silent, ANSWER_MS) : 0;
  }
}
