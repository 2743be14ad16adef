// How playing ends for a person: the end of a session or of the study, with the code and the way back.
import { byId } from './dom.js';
import { word } from './words.js';

const SEEN = 'ended'; // the session whose end was seen, in the storage of the tab

/** Shows one of the sections. The focus follows, except into the game, whose picture takes it once the world plays.
 * @param {string} name */
export function stage(name) {
  for (const each of ['lobby', 'game', 'over']) byId(each).hidden = each !== name;
  if (name !== 'game') byId(name).focus();
}

/** Whether an end has a code or an address. @param {any} ending @returns {boolean} */
export function leadsBack(ending) {
  return Boolean(ending?.code || ending?.address);
}

/** Whether the end of this session was seen in this tab. @param {string} session */
export function isSeen(session) {
  return session === sessionStorage.getItem(SEEN);
}

/** Why a person can't play in the study any longer. @param {any} standing */
function whyOver({ outcome, paused }) {
  return word(outcome ? `play.over_${outcome}` : paused === 'closed' ? 'done.closed' : 'done.paused');
}

/** Nothing is left to play in this study. @param {any} standing */
export function finished(standing) {
  stage('over');
  byId('overTitle').hidden = true; // there was no episode now
  byId('overText').textContent = whyOver(standing);
  byId('again').hidden = true;
  wayBack(standing);
}

/** Shows how a session has ended. @param {any} ending @param {boolean} [isLast] whether nothing is left to play */
export function ended({ session, why, text, ...way }, isLast = false) {
  stage('over');
  byId('overTitle').hidden = false;
  byId('overText').textContent = [word(`play.ended_${why}`), text].filter(Boolean).join(' ');
  wayBack(way);
  byId('again').hidden = isLast;
  byId('again').onclick = () => {
    sessionStorage.setItem(SEEN, session);
    location.reload();
  };
}

/** Offers to play again below the end of a session, or says why not where the study has been paused meanwhile.
 * @param {any} standing */
export function offerMore(standing) {
  byId('again').hidden = standing.stage === 'over';
  if (standing.stage === 'over' && !standing.outcome) byId('overText').append(` ${whyOver(standing)}`);
}

/** Shows the code of a crowd platform and the way back to it, as far as the study has them.
 * @param {{code?: string, address?: string}} standing */
export function wayBack({ code, address }) {
  byId('codeLine').hidden = !code;
  byId('code').textContent = code ?? '';
  byId('back').hidden = !address;
  if (address) byId('back').href = address;
}
