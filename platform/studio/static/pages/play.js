// Playing: the lobby, then a seat, and the end.
import { get, post } from '../api.js';
import { byId } from '../dom.js';
import { begin, say } from '../page.js';
import { ended, finished, isSeen, leadsBack, stage, wayBack } from '../play_ends.js';
import { play } from '../seat.js';
import { ANSWER_MS, sayWaiting } from '../waiting.js';
import { word } from '../words.js';

const POLL_MS = 1000;

await begin();
let ready = false;

const study = new URLSearchParams(location.search).get('study') ?? 'live';
const about = () => get(`/api/live?study=${encodeURIComponent(study)}`, ANSWER_MS);
const live = await sayWaiting(about).catch((error) => {
  if (error.status === 404 && !location.search) location.replace('/'); // the run's studies have other names
  say(byId('message'), error.message, 'bad');
  return null;
});
if (live && !leadsElsewhere(live)) {
  if (leadsBack(live.last) && !isSeen(live.last.session)) ended(live.last);
  else lobby();
}

/** Shows the end of the study or its consent, where the person is there. @param {any} found what `about` gave */
function leadsElsewhere({ standing, last }) {
  if (standing.stage === 'over' && standing.outcome !== 'complete' && leadsBack(last)) ended(last, true);
  else if (standing.stage === 'over') finished(standing);
  else if (standing.stage === 'consent') location.replace(`/consent?study=${encodeURIComponent(study)}`);
  else return false;
  return true;
}

/** Asks about the study until there is an answer. @returns {Promise<any>} */
async function answered() {
  for (;;) {
    try {
      return await about();
    } catch (error) {
      const { status } = /** @type {any} */ (error); // 0 without an answer
      if (status >= 400 && status < 500) throw error;
      await pause(POLL_MS);
    }
  }
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function lobby() {
  stage('lobby');
  ready = false;
  byId('ready').disabled = false;
  const press = () => {
    ready = true;
    byId('ready').disabled = byId('practiceReady').disabled = true;
    for (const name of ['lobby', 'say', 'view']) byId(name).focus(); // the last one in sight: a disabled button has no focus
  };
  byId('ready').onclick = byId('practiceReady').onclick = press;
  let stopped = false;
  byId('stop').onclick = () => {
    stopped = true; // the next page may be slow to come
    post('/api/live/quit');
  };
  byId('practice').hidden = !live.practice;
  byId('rolesText').textContent = live.seats.length > 1 ? word('play.roles_text') : word(`play.alone_${live.seats[0]}`);
  /** @type {{ close: () => void } | null} */ let room = null;
  let isOver = false; // whether the lobby has led elsewhere
  const leaveLobby = () => {
    isOver = true;
    room?.close();
  };
  byId('practice').onclick = async () => {
    byId('practice').disabled = true; // pressed twice, it would open two sockets of one seat
    try {
      const { session, seat } = await post('/api/live/practice', { study });
      if (!isOver) room = play(session, seat, answered, true);
    } catch (error) {
      if (!isOver) say(byId('message'), /** @type {any} */ (error).message, 'bad');
    } finally {
      byId('practice').disabled = false;
    }
  };
  byId('ready').focus();
  for (;;) {
    const state = await post('/api/live/join', { ready, study }, ANSWER_MS).catch(({ status, message }) => (
      status === 401 ? { state: 'logged_out', text: word('studio.logged_out') } : { state: 'error', text: message, status }));
    if (stopped) return post('/api/live/quit'); // which this visit may have overtaken
    if (state.status === 409 && leadsElsewhere(await about().catch(() => live))) return leaveLobby(); // it has changed
    if (state.state === 'session') {
      leaveLobby();
      return play(state.session, state.seat, answered);
    }
    const alone = live.seats.length === 1 && state.state === 'matched'; // nobody to wait for
    const now = alone ? 'alone' : ready && ['waiting', 'matched'].includes(state.state) ? `ready_${state.state}` : state.state;
    const text = state.text ?? word(`play.lobby_${now}`, { seconds: Math.ceil(state.seconds ?? state.waited ?? 0) });
    byId('lobbyText').textContent = byId('practiceText').textContent = text;
    document.title = word(state.state === 'matched' && !alone ? 'play.title_matched' : 'play.title');
    if (['no_partner', 'no_agent', 'logged_out'].includes(state.state)) {
      leaveLobby();
      stage('over');
      byId('overTitle').hidden = true;
      byId('overText').textContent = text;
      byId('again').textContent = word('play.try_again');
      byId('again').onclick = () => location.reload();
      return wayBack(state);
    }
    await pause(POLL_MS);
  }
}
