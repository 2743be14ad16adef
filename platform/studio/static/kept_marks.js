// The marks that the studio keeps of the recording on screen: a rater may set some in another browser.
import { get } from './api.js';

const LOOK_MS = 3000;

/** Shows them from now on, and whether the recording has been ended elsewhere, except while changes of this browser wait to be sent.
 * @param {() => {item: any, edits: import('./mark_edits.js').MarkEdits}} onScreen
 * @param {import('./outbox.js').Outbox} outbox @param {() => void} draw @param {() => void} ended */
export function followKeptMarks(onScreen, outbox, draw, ended) {
  let looking = false;
  async function look() {
    const { item, edits } = onScreen();
    if (looking || !item || document.hidden) return;
    looking = true;
    try {
      const before = edits.marks;
      if (await outbox.hasWaiting()) return;
      const { marks, open } = await get(`/api/items/${item.item}/marks`);
      // A change that was made meanwhile may not be among them.
      if ((await outbox.hasWaiting()) || edits.marks !== before || onScreen().edits !== edits) return;
      if (edits.showKept(marks)) draw();
      if (!open) ended();
    } catch {
      // The next look may succeed; what can't be sent is reported by the outbox.
    } finally {
      looking = false;
    }
  }
  setInterval(look, LOOK_MS);
  addEventListener('focus', look);
  document.addEventListener('visibilitychange', look);
}
