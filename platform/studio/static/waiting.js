// What a page does while the studio is slow or does not answer: it says so, and goes on by itself.
import { post, Refused } from './api.js';
import { sayAbout, sayLoggedOut } from './page.js';
import { word } from './words.js';

export const ANSWER_MS = 20_000; // after which a request is sent again: a connection may be dead without an error
export const SILENT_MS = 2000; // after which the page says that it waits
const AGAIN_MS = 1000;
const LOOK_MS = 3000;

/** What each wait says now, oldest first. @type {Map<any, {text: string, kind: string}>} */
const waits = new Map();

/** Says what is waited for; an empty text ends the wait. Others may go on: the page shows what the latest says.
 * @param {any} wait any object of its own @param {string} text @param {string} [kind] */
export function sayWait(wait, text, kind = '') {
  const shown = [...waits.values()].at(-1)?.text ?? '';
  if (text) waits.set(wait, { text, kind });
  else waits.delete(wait);
  const last = [...waits.values()].at(-1) ?? { text: '', kind: '' };
  if (last.text !== shown) sayAbout('waiting', last.text, last.kind); // screen readers read a message out each time it is shown
}

/** Says that the page waits for the studio, where an act takes long, or what the act says instead.
 * @param {(say: (text: string, kind?: string) => void) => Promise<any>} act @returns {Promise<any>} */
export async function sayWaiting(act) {
  const wait = {};
  const say = (/** @type {string} */ text, kind = '') => {
    clearTimeout(timer);
    sayWait(wait, text, kind);
  };
  const timer = setTimeout(() => say(word('studio.waiting')), SILENT_MS);
  try {
    return await act(say);
  } finally {
    clearTimeout(timer);
    sayWait(wait, '');
  }
}

/** Listens to a form, which is inert until then: submitted by the browser, it would leave the page. Submitted again
 * before the act is over, as by a double click, it does nothing; where the act takes long,
 * the page says that it waits. @param {any} form @param {() => any} act */
export function onSubmit(form, act) {
  let busy = false;
  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    try {
      await sayWaiting(act);
    } finally {
      busy = false;
    }
  });
  form.inert = false;
}

/** Posts until the studio answers, also where it was overloaded or failed. What is posted may arrive twice. A refusal is
 * thrown. @param {string} path @param {any} [body] @returns {Promise<any>} */
export function postUntilAnswered(path, body) {
  return sayWaiting(async (say) => {
    for (;;) {
      try {
        return await post(path, body, ANSWER_MS);
      } catch (error) {
        const { status, message } = /** @type {any} */ (error);
        if (!(error instanceof Refused) || (status >= 400 && status < 500 && ![408, 429].includes(status))) throw error;
        if (status) say(word('studio.failing', { problem: message }), 'bad');
        else say(word('studio.waiting'));
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  });
}

/** Looks every few seconds while the page is visible, and when it is visible again, for what other browsers and the
 * researcher have changed. One look at a time; one that fails is made again. Without a login the page says so, and looks
 * only when the person comes back to it. @param {() => Promise<any>} look */
export function lookRegularly(look) {
  let looking = false;
  let isBack = false; // came back since the last look began
  let timer = setInterval(begin, LOOK_MS);
  async function begin() {
    if (looking || document.hidden) return;
    looking = true;
    isBack = false;
    const isLoggedOut = await look().then(() => false, ({ status }) => status === 401); // what can't be sent is reported elsewhere
    looking = false;
    if (isLoggedOut && isBack) return begin();
    if (isLoggedOut === !timer) return;
    sayLoggedOut(isLoggedOut);
    clearInterval(timer);
    timer = isLoggedOut ? 0 : setInterval(begin, LOOK_MS);
  }
  whenBack(() => {
    isBack = true;
    begin();
  });
  document.addEventListener('visibilitychange', begin);
}

/** Calls back when the person comes back to the page, and when someone has logged in in another tab, which changes the
 * storage that the tabs share. @param {() => void} act @param {AbortSignal} [signal] ends it */
export function whenBack(act, signal) {
  addEventListener('focus', act, { signal });
  addEventListener('storage', act, { signal });
}
