// The recording on screen: what is asked about it, and its end. Neither reaches the recording that follows it.
import { ask } from './dialogs.js';
import { askWhyUnusable } from './mark_dialogs.js';
import { guarded } from './page.js';

export class RecordingOnScreen {
  /**
   * @param {() => string|undefined} item the id of the item on screen, if there is one
   * @param {import('./playback.js').Playback} playback stopped while a dialog is open
   */
  constructor(item, playback) {
    this.item = item;
    this.playback = playback;
    /** @type {string|undefined} */ this.ending = undefined;
  }

  /** Asks before an action. @param {string} title @param {string} text @param {string} yes @param {() => any} act */
  ask(title, text, yes, act) {
    this.playback.play(false);
    ask(title, text, yes, this.#tied(act));
  }

  /** Asks why this recording can't be used. @param {(reason: string) => any} act */
  askWhyUnusable(act) {
    this.playback.play(false);
    askWhyUnusable(this.#tied(act));
  }

  /** Ends the item, once: while that takes, another end of the same item does nothing.
   * @param {(address: string) => Promise<any>} act called with the address of the item */
  async end(act) {
    const item = this.item();
    if (item === undefined || item === this.ending) return;
    this.ending = item;
    try {
      await act(`/api/items/${item}`);
    } finally {
      if (this.ending === item) this.ending = undefined;
    }
  }

  /** An action on the item that is on screen now; once another one is, it does nothing.
   * @param {(...given: any[]) => any} act */
  #tied(act) {
    const asked = this.item();
    return (/** @type {any[]} */ ...given) => this.item() === asked && guarded(() => act(...given));
  }
}
