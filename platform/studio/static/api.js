// Requests to the studio. An answer that is no success becomes an error with the server's own words.

export class Refused extends Error {
  /** @param {number} status @param {string} message @param {any} body */
  constructor(status, message, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** @param {string} path @param {RequestInit} [options] */
async function ask(path, options) {
  const answer = await fetch(path, { credentials: 'same-origin', ...options });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body.error || `HTTP ${answer.status}`, body);
  return body;
}

/** @param {string} path @returns {Promise<any>} */
export const get = (path) => ask(path);

/** @param {string} path @param {any} [body] @returns {Promise<any>} */
export const post = (path, body = {}) =>
  ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** Bytes of a film. @param {string} path @param {AbortSignal} [signal] @returns {Promise<ArrayBuffer>} */
export async function bytes(path, signal) {
  const answer = await fetch(path, { credentials: 'same-origin', signal });
  if (!answer.ok) {
    const body = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, body.error || `HTTP ${answer.status}`, body);
  }
  return answer.arrayBuffer();
}
