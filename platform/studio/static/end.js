// How a study of recordings ended for a person, in place of the work.
import { byId } from './dom.js';
import { copyOnClick } from './page.js';
import { word } from './words.js';

/** @param {any} standing */
export function showEnd(standing) {
  byId('work').hidden = true;
  byId('over').hidden = false;
  const key = standing.outcome ? `done.${standing.outcome}` : standing.paused === 'closed' ? 'done.closed' : 'done.paused';
  byId('overText').textContent = word(key);
  byId('overCode').hidden = !standing.code;
  byId('code').textContent = standing.code;
  copyOnClick(byId('copy'), byId('code'));
  byId('back').hidden = !standing.address;
  if (standing.address) byId('back').href = standing.address;
  byId('over').focus(); // which what is hidden now had
}
