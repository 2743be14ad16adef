// What was marked stays here, across reloads and crashes, until the studio has acknowledged it. Where the browser can't
// store it, as in a private window, it stays in the page.
import { get, post, Refused } from './api.js';
import { ANSWER_MS, whenBack } from './waiting.js';
import { word } from './words.js';

const NAME = 'interplay-outbox';
const STORE = 'requests';
const LONGEST_WAIT = 8000;

/** @returns {Promise<IDBDatabase>} */
function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The result of a request once its transaction has completed: a full disk may abort it after the request succeeded.
 * @param {any} request @returns {Promise<any>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    const { transaction } = request;
    transaction.addEventListener('complete', () => resolve(request.result));
    transaction.addEventListener('abort', () => reject(transaction.error ?? request.error));
  });

/** The marking pages of a person in this browser. @param {string} person */
export const markingTabs = (person) => new BroadcastChannel(`interplay-marks ${person}`);

/** Removes what this browser stores of a person's requests. @param {string} person */
export async function removeRequests(person) {
  const walk = (await opened()).transaction(STORE, 'readwrite').objectStore(STORE).openCursor();
  walk.addEventListener('success', () => {
    if (walk.result?.value.person === person) walk.result.delete();
    walk.result?.continue();
  });
  await done(walk);
}

/** @typedef {{key?: any, path: string, body: any}} Waiting a request that waits; without a key only this page has it */

export class Outbox {
  /**
   * @param {string} person whose requests these are: another login of this browser keeps its own
   * @param {(waiting: number, problem: string) => void} onChange called with how many requests are not acknowledged,
   *   and when the browser can no longer store requests
   * @param {(path: string, body: any, reason: string) => void} onRefused called with a request that is not kept
   */
  constructor(person, onChange, onRefused) {
    this.person = person;
    this.onChange = onChange;
    this.onRefused = onRefused;
    this.sending = false;
    this.canStore = true; // false: requests are only in this page, and are lost when it is closed
    this.adding = 0; // requests that the browser is still storing
    this.listed = 0; // requests that waited when they were last listed
    /** Requests of this page that are not acknowledged, oldest first. @type {Waiting[]} */ this.own = [];
    this.sent = new Set(); // keys of acknowledged requests that could not be deleted
    this.storing = Promise.resolve(); // the end of the last `keep`
    this.problem = '';
    this.rtt = 0; // milliseconds from sending the last request to its acknowledgment
    this.database = opened();
    this.database.catch((error) => this.stopStoring(error));
    this.endPause = () => {}; // before the next try
    this.woken = false; // since the last try began
    addEventListener('online', () => this.wake());
    whenBack(() => this.wake());
  }

  wake() {
    this.woken = true;
    this.endPause();
  }

  /** @param {IDBTransactionMode} mode */
  async store(mode) {
    return (await this.database).transaction(STORE, mode, { durability: 'strict' }).objectStore(STORE);
  }

  /** Reports how many requests wait: from the moment of a change, before the browser has stored it. */
  report() {
    this.onChange(this.listed + this.adding, this.problem);
  }

  /** Keeps later requests in this page alone, so that they stay in order. @param {unknown} error of the database */
  stopStoring(error) {
    if (!this.canStore) return;
    this.canStore = false;
    console.warn('Requests can no longer be stored in this browser:', error);
    this.report();
  }

  /** Keeps a request, then sends what waits, in order. @param {string} path @param {any} body */
  add(path, body) {
    this.adding += 1;
    this.report();
    this.storing = this.storing.then(() => this.keep(path, body)); // one at a time: after a failure, none is stored
    return this.storing;
  }

  /** @param {string} path @param {any} body */
  async keep(path, body) {
    /** @type {Waiting} */ const request = { path, body };
    if (this.canStore) {
      try {
        request.key = await done((await this.store('readwrite')).add({ person: this.person, path, body }));
      } catch (error) {
        this.stopStoring(error);
      }
    }
    this.own.push(request);
    this.adding -= 1;
    if (this.sending) await this.list(); // the next look at the list may be an answer or a pause away
    this.send();
  }

  /** The requests that wait now; reports how many. */
  async list() {
    const waiting = await this.waiting();
    this.listed = waiting.length;
    this.report();
    return waiting;
  }

  /** Requests that wait, oldest first: those that are stored, of earlier and of other pages too, then those that are
   * only in this page. Where the database can't be read, all of this page. @returns {Promise<Waiting[]>} */
  async waiting() {
    try {
      const store = await this.store('readonly');
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      const stored = keys.map((/** @type {any} */ key, /** @type {number} */ i) => ({ key, ...values[i] }));
      return [
        ...stored.filter((/** @type {any} */ each) => each.person === this.person && !this.sent.has(each.key)),
        ...this.own.filter(({ key }) => key === undefined),
      ];
    } catch (error) {
      this.stopStoring(error);
      return [...this.own];
    }
  }

  /** Drops a request, which the studio has answered. @param {Waiting} request */
  async drop(request) {
    const { key } = request;
    this.own = this.own.filter((each) => (key === undefined ? each !== request : each.key !== key));
    if (key === undefined) return;
    try {
      await done((await this.store('readwrite')).delete(key));
    } catch (error) {
      this.sent.add(key);
      this.stopStoring(error);
    }
  }

  /** Sends until nothing waits. A request that the studio refuses for good is dropped with its reason. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    let wait = 250;
    let isChecked = false; // whether the login was that of the person just before this try
    this.problem = '';
    try {
      for (;;) {
        const waiting = await this.list();
        if (!waiting.length) return;
        const [first] = waiting;
        const { path, body } = first;
        this.woken = false;
        try {
          const sent = performance.now();
          await post(path, body, ANSWER_MS);
          this.rtt = performance.now() - sent;
          await this.drop(first);
          wait = 250;
          isChecked = false;
          this.problem = '';
        } catch (error) {
          const status = error instanceof Refused ? error.status : 0;
          const { message } = /** @type {any} */ (error);
          const wasChecked = isChecked;
          const login = [403, 404].includes(status) ? await this.login() : ''; // what is its own is refused to others
          isChecked = login === 'own';
          if (isChecked && !wasChecked) continue; // it may have been refused to another person, who was logged in until then
          if (login === 'other') {
            this.problem = word('mark.other_login');
          } else if (login !== 'unknown' && status >= 400 && status < 500 && ![401, 408, 429].includes(status)) {
            await this.drop(first);
            isChecked = false;
            this.problem = '';
            this.onRefused(path, body, message);
            continue;
          } else {
            this.problem = status === 401 ? word('studio.logged_out') : 'waiting';
          }
          this.report();
          await this.pause(status === 401 ? Infinity : wait);
          wait = Math.min(2 * wait, LONGEST_WAIT);
        }
      }
    } finally {
      this.sending = false;
    }
  }

  /** Waits, at most until the network or the person is back. @param {number} ms Infinity: only until then */
  pause(ms) {
    return new Promise((resolve) => {
      this.endPause = () => resolve(undefined);
      if (this.woken) resolve(undefined); // while the answer was under way
      else if (ms < Infinity) setTimeout(resolve, ms);
    });
  }

  /** Whose login this browser has: 'own' is that of the person, 'unknown' where no answer comes. */
  async login() {
    try {
      return (await get('/api/visitor', ANSWER_MS))?.person === this.person ? 'own' : 'other';
    } catch {
      return 'unknown';
    }
  }

  /** Whether something is not acknowledged, also of other tabs. */
  async hasWaiting() {
    return (await this.waiting()).length > 0 || this.adding > 0;
  }

  /** Waits until everything is acknowledged. */
  async empty() {
    for (;;) {
      this.send();
      if (!(await this.hasWaiting())) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
