// The marks that the studio keeps of the recording on screen: a rater may set some in another browser.
import { get } from './api.js';
import { sayPaused } from './page.js';
import { ANSWER_MS, lookRegularly } from './waiting.js';

/** Shows them from now on, and whether the recording has been ended elsewhere, except while changes of this browser wait to be sent.
 * @param {() => {item: any, edits: import('./mark_edits.js').MarkEdits}} onScreen
 * @param {import('./outbox.js').Outbox} outbox @param {() => void} draw @param {() => void} ended */
export function followKeptMarks(onScreen, outbox, draw, ended) {
  lookRegularly(async () => {
    const { item, edits } = onScreen();
    if (!item) return;
    const before = edits.marks;
    if (await outbox.hasWaiting()) return;
    const { marks, open, paused } = await get(`/api/items/${item.item}/marks`, ANSWER_MS);
    // A change that was made meanwhile may not be among them.
    if ((await outbox.hasWaiting()) || edits.marks !== before || onScreen().edits !== edits) return;
    if (edits.showKept(marks)) draw();
    sayPaused(paused);
    if (!open) ended();
  });
}
