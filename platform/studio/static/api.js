// Requests to the studio. An answer that is no success becomes an error with the server's own words.
import { word } from './words.js';

export class Refused extends Error {
  /** Status 0: no answer came. @param {number} status @param {string} message @param {any} body */
  constructor(status, message, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** A successful answer; every other one, and none, is a Refused. @param {string} path @param {RequestInit} [options] */
async function answered(path, options) {
  const answer = await fetch(path, { credentials: 'same-origin', ...options }).catch((error) => {
    throw error.name === 'AbortError' ? error : new Refused(0, word('studio.silent'), {});
  });
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, body.error || word('studio.failed', { status: answer.status }), body);
}

/** @param {string} path @param {RequestInit} [options] */
const ask = async (path, options) => (await answered(path, options)).json();

/** @param {string} path @returns {Promise<any>} */
export const get = (path) => ask(path);

/** @param {string} path @param {any} [body] @returns {Promise<any>} */
export const post = (path, body = {}) =>
  ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** Bytes of a film. @param {string} path @param {AbortSignal} [signal] @returns {Promise<ArrayBuffer>} */
export async function bytes(path, signal) {
  return (await answered(path, { signal })).arrayBuffer();
}
