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

/** No answer has come, or not all of it. @param {any} error @returns {never} */
function unanswered(error) {
  throw error.name === 'AbortError' ? error : new Refused(0, word('studio.silent'), {});
}

/** A successful answer; every other one, and none, is a Refused. @param {string} path @param {RequestInit} [options] */
async function answered(path, options) {
  const answer = await fetch(path, { credentials: 'same-origin', ...options }).catch(unanswered);
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, body.error || word('studio.failed', { status: answer.status }), body);
}

/** @param {string} path @param {RequestInit} [options] */
const ask = async (path, options) => (await answered(path, options)).json().catch(unanswered);

/** What ends a request that is not answered in time. @param {number} [longest] milliseconds to wait for the answer */
const limit = (longest) => (longest ? AbortSignal.timeout(longest) : null);

/** @param {string} path @param {number} [longest] milliseconds to wait for the answer @returns {Promise<any>} */
export const get = (path, longest) => ask(path, { signal: limit(longest) });

/** @param {string} path @param {any} [body] @param {number} [longest] milliseconds to wait for the answer @returns {Promise<any>} */
export const post = (path, body = {}, longest) => ask(path, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
  signal: limit(longest),
});

/** Bytes of a film. @param {string} path @param {AbortSignal} [signal] @returns {Promise<ArrayBuffer>} */
export async function bytes(path, signal) {
  return (await answered(path, { signal })).arrayBuffer().catch(unanswered);
}
