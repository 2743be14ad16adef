// What was marked stays here, across reloads and crashes, until the studio has acknowledged it.
import { get, post, Refused } from './api.js';
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

/** @param {IDBRequest} request @returns {Promise<any>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Outbox {
  /**
   * @param {string} person whose requests these are: another login of this browser keeps its own
   * @param {(waiting: number, problem: string) => void} onChange called with how many requests are not acknowledged
   * @param {(path: string, body: any, reason: string) => void} onRefused called with a request that is not kept
   */
  constructor(person, onChange, onRefused) {
    this.person = person;
    this.onChange = onChange;
    this.onRefused = onRefused;
    this.sending = false;
    this.adding = 0; // requests that the browser is still writing down
    this.stored = 0; // requests that were written down when last read
    this.problem = '';
    this.rtt = 0; // milliseconds from sending the last request to its acknowledgment
    this.database = opened();
    addEventListener('online', () => this.send());
  }

  /** @param {IDBTransactionMode} mode */
  async store(mode) {
    return (await this.database).transaction(STORE, mode, { durability: 'strict' }).objectStore(STORE);
  }

  /** Reports how many requests wait: from the moment of a change, before the browser has written it down. */
  report() {
    this.onChange(this.stored + this.adding, this.problem);
  }

  /** Keeps a request, then sends what waits, in order. @param {string} path @param {any} body */
  async add(path, body) {
    this.adding += 1;
    this.report();
    try {
      await done((await this.store('readwrite')).add({ person: this.person, path, body }));
    } catch {
      // Nothing more can be kept here, as where the disk is full.
      await post(path, body).catch((error) => this.onRefused(path, body, error.message));
    } finally {
      this.adding -= 1;
    }
    this.send();
  }

  /** Requests that wait, oldest first. @returns {Promise<{key: any, path: string, body: any}[]>} */
  async waiting() {
    const store = await this.store('readonly');
    const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
    return keys.map((/** @type {any} */ key, /** @type {number} */ i) => ({ key, ...values[i] }))
      .filter((/** @type {any} */ each) => each.person === this.person);
  }

  /** Sends until nothing waits. A request that the studio refuses for good is dropped with its reason. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    let wait = 250;
    this.problem = '';
    try {
      for (;;) {
        const waiting = await this.waiting();
        this.stored = waiting.length;
        this.report();
        if (!waiting.length) return;
        const [{ key, path, body }] = waiting;
        try {
          const sent = performance.now();
          await post(path, body);
          this.rtt = performance.now() - sent;
          await done((await this.store('readwrite')).delete(key));
          wait = 250;
          this.problem = '';
        } catch (error) {
          const status = error instanceof Refused ? error.status : 0;
          const { message } = /** @type {any} */ (error);
          if ([403, 404].includes(status) && !(await this.isLoggedIn())) {
            this.problem = word('mark.other_login');
          } else if (status >= 400 && status < 500 && ![401, 408, 429].includes(status)) {
            await done((await this.store('readwrite')).delete(key));
            this.problem = '';
            this.onRefused(path, body, message);
            continue;
          } else {
            this.problem = status === 401 ? message : 'waiting';
          }
          this.report();
          await new Promise((resolve) => setTimeout(resolve, wait));
          wait = Math.min(2 * wait, LONGEST_WAIT);
        }
      }
    } finally {
      this.sending = false;
    }
  }

  /** Whether this browser is still that of the person; what is its own is refused to others. */
  async isLoggedIn() {
    return (await get('/api/visitor').catch(() => null))?.person === this.person;
  }

  /** Waits until everything is acknowledged. */
  async empty() {
    for (;;) {
      this.send();
      if (!this.adding && !(await this.waiting()).length) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
