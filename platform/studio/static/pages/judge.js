// The judging page: watch how an agent continues, then say whether it did what was asked for.
import { get } from '../api.js';
import { byId, fill, focusAfterClicks, make, reveal } from '../dom.js';
import { showEnd } from '../end.js';
import { Film } from '../film.js';
import { keyName, readable } from '../keys.js';
import { begin, guarded, sayAbout, sayGaps, sayPaused } from '../page.js';
import { clock, loadedParts, Playback, watched } from '../playback.js';
import { RecordingOnScreen } from '../recording_on_screen.js';
import { Timeline } from '../timeline.js';
import { ANSWER_MS, lookRegularly, postUntilAnswered } from '../waiting.js';
import { word } from '../words.js';

const LITTLE_WATCHED = 50; // percent of what the agent did; below it, a verdict asks once
/** Action by key, in the order in which they are listed. @type {[string, string, () => any][]} */
const KEYS = [
  ['y', 'judge.done', () => judge(true)],
  ['n', 'judge.not_done', () => judge(false)],
  ['Space', 'key.play', () => playback.play(!playback.playing)],
  ['ArrowLeft', 'key.back', () => playback.go(film.wanted - film.plan.strip_every)],
  ['ArrowRight', 'key.forward', () => playback.go(film.wanted + film.plan.strip_every)],
  ['ArrowUp', 'key.faster', () => playback.faster(1)],
  ['ArrowDown', 'key.slower', () => playback.faster(-1)],
];

await begin();
const study = new URLSearchParams(location.search).get('study') ?? '';
const timeline = new Timeline(byId('bar'), { said: word('mark.lane_said'), loaded: word('mark.lane_loaded') });
/** @type {any} */ let item = null;
/** @type {any} */ let film = null;
let ready = false; // whether the film can be watched
let sending = false; // whether a verdict is on its way
const playback = new Playback(() => film, ({ playing, speed }) => { byId('play').textContent = word(playing ? 'mark.pause' : 'mark.play', { speed }); });
const recording = new RecordingOnScreen(() => item?.item, playback);

/** @param {boolean} on */
function setReady(on) {
  ready = on;
  for (const name of ['done', 'notDone', 'play']) byId(name).disabled = !on;
}

function draw() {
  if (!item) return;
  const begins = { frame: item.judged_from, role: 'world', text: word('judge.from_here') };
  timeline.draw({ frames: item.frames, cursor: Math.max(0, film.shown), dialogue: [begins, ...item.dialogue], lanes: [], loaded: loadedParts(film) });
}

/** @param {number} frame */
function shown(frame) {
  byId('number').textContent = word('mark.number', { frame, clock: clock(film, frame) });
  byId('bar').setAttribute('aria-valuetext', clock(film, frame));
  byId('watched').textContent = word('mark.watched', { share: watched(film, item.judged_from) });
  const heard = [...byId('dialogue').children].filter((row) => Number(row.dataset.frame) <= frame);
  const now = heard[heard.length - 1];
  for (const row of byId('dialogue').children) row.classList.toggle('now', row === now);
  if (now) reveal(byId('dialogue'), now);
  draw();
}

function dialogueRows() {
  fill(byId('dialogue'), ...item.dialogue.map((/** @type {any} */ each) => make(
    'li',
    { class: each.role, 'data-frame': each.frame },
    make('button', { class: 'go', text: clock(film, each.frame), 'aria-label': word('mark.go', { clock: clock(film, each.frame) }), onclick: () => playback.go(each.frame) }),
    make('span', { class: 'text' }, make('span', { class: 'role', text: word(`role.${each.role}`) }), make('span', { text: each.text })),
  )));
}

/** The next recording, or how the study ended. */
async function next() {
  setReady(false);
  const answer = await postUntilAnswered(`/api/mark/${encodeURIComponent(study)}/next`);
  const { stage } = answer.standing;
  if (stage !== 'judge' && stage !== 'over') {
    location.replace(`/${stage === 'consent' ? 'consent' : 'mark'}?study=${encodeURIComponent(study)}`);
    return;
  }
  film?.close();
  playback.play(false);
  sayPaused(false);
  for (const name of ['message', 'question', 'dialogue', 'number', 'watched']) byId(name).replaceChildren();
  ({ item } = answer);
  if (!item) {
    showEnd(answer.standing);
    return;
  }
  byId('work').hidden = false;
  byId('loading').hidden = false;
  byId('count').textContent = word(answer.most ? 'judge.count_of' : 'judge.count', { number: answer.finished + 1, most: answer.most });
  const opened = new Film(`/api/items/${item.item}`, byId('canvas'), shown, draw, sayGaps);
  film = opened;
  try {
    await opened.open();
  } catch (error) {
    if (opened.closed) return;
    byId('loading').hidden = true;
    sayAbout('film', word('mark.no_film', { problem: /** @type {any} */ (error).message }), 'bad');
    return;
  }
  if (opened.closed) return; // the recording was skipped in the meantime
  byId('loading').hidden = true;
  byId('question').textContent = word('judge.question', { clock: clock(film, item.judged_from) });
  dialogueRows();
  setReady(true);
  byId('bar').focus({ preventScroll: true });
  // In sight are the picture, then the bar, then the last button, as far as the window is high enough.
  for (const name of ['skip', 'bar', 'view']) byId(name).scrollIntoView({ block: 'nearest' });
  playback.play(true);
}

/** @param {boolean} done @param {boolean} [confirmed] */
async function judge(done, confirmed = false) {
  if (!ready) return; // pressed again before the next recording is on screen
  const share = watched(film, item.judged_from);
  if (!confirmed && share < LITTLE_WATCHED) {
    recording.ask('judge.sure', word('judge.unwatched', { share }), 'judge.anyway', () => judge(done, true));
    return;
  }
  await recording.end(async (address) => {
    let isOther = false; // whether the other verdict came first, from another tab or browser
    setReady(false);
    sending = true;
    try {
      isOther = (await postUntilAnswered(`${address}/judge`, { done, seen: film.seen.size })).done !== done;
    } catch (error) {
      setReady(true); // not kept: the person presses again
      throw error;
    } finally {
      sending = false;
    }
    await next();
    if (isOther) sayAbout('ended', word('judge.ended_elsewhere'));
  });
}

/** Ends the recording without a verdict. @param {string} how @param {any} [body] */
function leave(how, body) {
  return recording.end(async (address) => {
    await postUntilAnswered(`${address}/${how}`, body);
    await next();
  });
}

/** Shows the next recording where this one was ended in another tab or browser, and says when nothing more follows. */
async function look() {
  const asked = item?.item;
  if (!asked || recording.ending === asked) return;
  const { open, paused } = await get(`/api/items/${asked}/marks`, ANSWER_MS);
  if (item?.item !== asked || recording.ending === asked) return;
  sayPaused(paused);
  if (open) return;
  byId('dialog').close();
  await recording.end(() => guarded(next));
  sayAbout('ended', word('judge.ended_elsewhere'));
}

byId('done').addEventListener('click', () => guarded(() => judge(true)));
byId('notDone').addEventListener('click', () => guarded(() => judge(false)));
byId('play').addEventListener('click', () => playback.play(!playback.playing));
byId('skip').addEventListener('click', () => {
  if (item) recording.ask('skip.title', word('judge.skip'), 'mark.skip', () => leave('skip'));
});
byId('unusable').addEventListener('click', () => {
  if (item) recording.askWhyUnusable((reason) => leave('unusable', { reason }));
});
addEventListener('keydown', (event) => {
  if (!ready || byId('dialog').open || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {any} */ (event.target);
  const key = keyName(event);
  const found = KEYS.find(([name]) => name === key);
  if (!found || (target.matches('button, a') && key === 'Space')) return;
  event.preventDefault();
  if (!event.repeat || key.startsWith('Arrow')) guarded(found[2]);
});
addEventListener('resize', draw);
addEventListener('beforeunload', (event) => sending && event.preventDefault());
playback.follow(timeline);
focusAfterClicks(byId('work'), byId('bar'));
fill(byId('keys'), ...KEYS.map(([key, text]) => make('li', {}, ...readable(key).map((name) => make('kbd', { text: name })), make('span', { text: word(text) }))));
playback.play(false);
lookRegularly(look);
if (study) await guarded(next);
else location.replace('/');
