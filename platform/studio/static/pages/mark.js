// The marking page: scrub, mark, undo; nothing is lost, and nothing is sent twice.
import { allClosed } from '../dialogs.js';
import { byId, fill, focusAfterClicks, make, reveal } from '../dom.js';
import { showEnd } from '../end.js';
import { Film } from '../film.js';
import { followKeptMarks } from '../kept_marks.js';
import { actionsByKey, DEFAULT_KEYS, keyName, readable } from '../keys.js';
import { changeKeys, showResults, showRules } from '../mark_dialogs.js';
import { MarkEdits } from '../mark_edits.js';
import { markingTabs, Outbox, removeRequests } from '../outbox.js';
import { OwnSettings } from '../own_settings.js';
import { begin, guarded, sayAbout, sayGaps, sayPaused } from '../page.js';
import { clock, loadedParts, Playback, spokenMoment, watched } from '../playback.js';
import { RecordingOnScreen } from '../recording_on_screen.js';
import { Timeline } from '../timeline.js';
import { postUntilAnswered, sayWaiting } from '../waiting.js';
import { word } from '../words.js';

const FAR_SECONDS = 2;
const FLASH_MS = 500;
const LITTLE_WATCHED = 50; // percent; below it, finishing without a mark asks once

const person = await begin();
const study = new URLSearchParams(location.search).get('study') ?? '';
const studio = { drawn: 0, shown: 0, rtt: 0, source: '' };
/** @type {any} */ (window).studio = studio;

const timeline = new Timeline(byId('bar'), { said: word('mark.lane_said'), loaded: word('mark.lane_loaded') });
/** What was reported last, by topic: screen readers read a message out each time it is shown.
 * @type {Map<string, string>} */
const reported = new Map();
/** @param {string} topic @param {string} text */
function report(topic, text) {
  if (reported.get(topic) !== text) sayAbout(topic, text, 'bad');
  reported.set(topic, text);
}

/** Changes that the studio has refused, since a recording was finished. @type {Set<string>} */
const refused = new Set();
const outbox = new Outbox(person.person, (waiting, problem) => {
  byId('saved').textContent = waiting ? word('mark.saving', { waiting }) : word('mark.saved');
  byId('saved').classList.toggle('waiting', waiting > 0);
  studio.rtt = outbox.rtt;
  const silent = waiting ? word(outbox.canStore ? 'mark.offline' : 'mark.offline_in_page') : '';
  report('sending', problem === 'waiting' ? silent : problem);
  report('storage', outbox.canStore ? '' : word('mark.not_stored'));
}, (_, body, problem) => {
  tabs.postMessage({ refused: body, problem });
  showRefused(body, problem);
});
/** Other tabs of this browser: what one marks or is refused is shown in the others. */
const tabs = markingTabs(person.person);
tabs.addEventListener('message', ({ data }) => {
  if (data.isDeleted) leaveDeleted();
  else if (data.refused) showRefused(data.refused, data.problem);
  else if (data.item === item?.item) edits.adopt(data.edit);
  draw();
});

/** @type {any} */ let item = null;
/** @type {any} */ let film = null;
let edits = new MarkEdits([], sent);
const playback = new Playback(() => film, ({ playing, speed }) => { byId('play').textContent = word(playing ? 'mark.pause' : 'mark.play', { speed }); });
const recording = new RecordingOnScreen(() => item?.item, playback);
const settings = new OwnSettings();
let finished = 0;
let most = 0;
let keys = person.settings.keys ?? {};
let actions = actionsByKey(keys);

const path = (/** @type {string} */ what) => `/api/items/${item.item}/${what}`;
const step = () => film.plan.strip_every;

// ---- marks

/** Sends an edit of the marks to the studio. @param {import('../mark_edits.js').Edit} edit */
function sent({ added, removed }) {
  for (const mark of removed) outbox.add(path('undo'), { mark: mark.id });
  for (const { id, shown: frame, sign, utterance, by } of added) {
    outbox.add(path('marks'), { id, frame, sign, utterance, by: by ?? 'click', playing: playback.playing, speed: playback.speed, seen: film.seen.size });
  }
  tabs.postMessage({ item: item.item, edit: { added, removed } });
  draw();
}

/** Takes a mark that was not kept off the page, and says so. @param {any} body @param {string} problem */
function showRefused(body, problem) {
  refused.add(JSON.stringify(body));
  sayAbout('refused', word('mark.refused', { count: refused.size, problem }), 'bad');
  edits.forget(body.id);
  draw();
}

/** Leaves the page, whose person has been deleted in another tab. */
async function leaveDeleted() {
  try {
    await removeRequests(person.person); // also what was marked since that tab has removed them
  } finally {
    byId('saved').classList.remove('waiting'); // nothing is left to be saved: do not ask whether to leave
    location.replace('/i');
  }
}

function forgetRefused() {
  refused.clear();
  sayAbout('refused', '');
}

/** @param {number} sign @param {string} by */
function markMoment(sign, by) {
  if (!film || film.shown < 0) return;
  edits.moment(film.shown, sign, by);
  flash(sign);
}

/** @param {number} direction */
function moveMark(direction) {
  const mark = edits.nearest(film.shown);
  if (!mark) return;
  const to = film.nearest(mark.shown + direction * step());
  edits.move(mark, to);
  go(to);
}

function removeMark() {
  const mark = edits.nearest(film.shown);
  if (mark) edits.remove(mark);
}

/** @param {number} direction */
function toMark(direction) {
  const mark = edits.next(film.shown, direction);
  if (mark) go(mark.shown);
}

// ---- moving through the film

const go = (/** @type {number} */ frame) => playback.go(frame);

/** @param {number} direction */
function toUtterance(direction) {
  const ordered = item.dialogue.filter((/** @type {any} */ each) => (each.frame - film.shown) * direction > 0);
  ordered.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.frame - b.frame) * direction);
  if (ordered.length) go(ordered[0].frame);
}

// ---- what is on screen

/** @param {number} sign */
function flash(sign) {
  const place = byId('flash');
  place.textContent = sign > 0 ? '▲' : '▼';
  place.className = `flash ${sign > 0 ? 'progress' : 'slip'}`;
  setTimeout(() => { place.textContent = ''; }, FLASH_MS);
}

function draw() {
  if (!item) return;
  timeline.draw({
    frames: item.frames,
    cursor: Math.max(0, film.shown),
    dialogue: item.dialogue,
    lanes: [{ name: word('mark.lane_marks'), chosen: edits.chosen, marks: edits.marks.map((mark) => ({ ...mark, frame: mark.shown })) }],
    loaded: loadedParts(film),
  });
  if (film.plan) byId('bar').setAttribute('aria-valuetext', spokenMoment(film, edits.marks));
  const missing = item.dialogue.filter((/** @type {any} */ each) => each.role === 'solver' && !edits.marks.some((mark) => mark.utterance === each.number));
  byId('unsigned').textContent = missing.length ? word('mark.unsigned', { count: missing.length }) : '';
  for (const row of byId('dialogue').children) {
    const mine = edits.marks.find((mark) => mark.utterance === Number(row.dataset.number));
    for (const button of row.querySelectorAll('[aria-pressed]')) {
      button.setAttribute('aria-pressed', String(Boolean(mine) && mine?.sign === Number(button.dataset.sign)));
    }
  }
  byId('count').textContent = word(most ? 'mark.count_of' : 'mark.count', { number: finished + 1, most, marks: edits.marks.length });
  byId('undo').disabled = !edits.past.length;
  byId('redo').disabled = !edits.future.length;
}

/** @param {number} frame */
function shown(frame) {
  byId('number').textContent = word('mark.number', { frame, clock: clock(film, frame) });
  studio.drawn = film.drawn;
  studio.shown = frame;
  studio.source = film.source;
  byId('watched').textContent = word('mark.watched', { share: watched(film) });
  let now = null;
  for (const row of byId('dialogue').children) {
    if (Number(row.dataset.frame) <= frame) now = row;
    row.classList.remove('now');
  }
  now?.classList.add('now');
  if (now) reveal(byId('dialogue'), now);
  draw();
}

function dialogueRows() {
  fill(byId('dialogue'), ...item.dialogue.map((/** @type {any} */ each) => make(
    'li',
    { class: each.role, 'data-number': each.number, 'data-frame': each.frame },
    make('button', { class: 'go', text: clock(film, each.frame), 'aria-label': word('mark.go', { clock: clock(film, each.frame) }), onclick: () => go(each.frame) }),
    make('span', { class: 'text' }, make('span', { class: 'role', text: word(`role.${each.role}`) }), make('span', { text: each.text })),
    each.role === 'solver' && make('span', { class: 'signs' }, ...[1, -1].map((sign) => make('button', {
      class: sign > 0 ? 'plus' : 'minus',
      'data-sign': sign,
      data: `${sign > 0 ? 'plus' : 'minus'}-${each.number}`,
      'aria-pressed': 'false',
      'aria-label': word(sign > 0 ? 'mark.said_plus' : 'mark.said_minus', { text: each.text }),
      text: sign > 0 ? '+' : '−',
      onclick: () => edits.utterance(each.number, each.frame, sign),
    }))),
  )));
}

function keyList() {
  const both = { ...DEFAULT_KEYS, ...keys };
  const listed = ['plus', 'minus', 'undo', 'redo', 'play', 'back', 'forward', 'far_back', 'far_forward', 'faster', 'said_forward', 'mark_forward', 'remove', 'finish'];
  fill(byId('keys'), ...listed.map((action) => make('li', {}, ...readable(both[action]).map((key) => make('kbd', { text: key })), make('span', { text: word(`key.${action}`) }))));
}

// ---- items

const everythingSent = () => sayWaiting(() => outbox.empty());

async function next() {
  byId('finish').disabled = true; // until the film can be watched
  await everythingSent();
  const answer = await postUntilAnswered(`/api/mark/${encodeURIComponent(study)}/next`);
  if (answer.standing.stage === 'consent') {
    location.replace(`/consent?study=${encodeURIComponent(study)}`);
    return;
  }
  if (answer.standing.stage === 'judge') {
    location.replace(`/judge?study=${encodeURIComponent(study)}`);
    return;
  }
  film?.close();
  playback.play(false);
  for (const name of ['dialogue', 'number', 'watched']) fill(byId(name)); // the buttons would mark the next recording
  for (const topic of ['action', 'film', 'ended']) sayAbout(topic, ''); // of the last recording
  sayPaused(false);
  if (!answer.item) {
    item = null;
    showEnd(answer.standing);
    return;
  }
  ({ item } = answer);
  edits = new MarkEdits(item.marks, sent);
  [finished, most] = [answer.finished, answer.most];
  byId('work').hidden = false;
  byId('loading').hidden = false;
  byId('warning').hidden = !answer.warning;
  byId('title').textContent = word(answer.standing.stage === 'mark' ? 'mark.title' : `mark.title_${answer.standing.stage}`, answer.standing);
  const opened = new Film(`/api/items/${item.item}`, byId('canvas'), shown, draw, sayGaps);
  film = opened;
  try {
    await opened.open();
  } catch (error) {
    if (!opened.closed) sayAbout('film', word('mark.no_film', { problem: /** @type {any} */ (error).message }), 'bad');
    opened.plan ??= { rate: 30, strip_every: 1, frames: 0, rows: 1, full_every: 1, chunk: 1, chunks: 0, full_pictures: 0 };
  }
  if (opened.closed) return; // the recording was skipped meanwhile
  byId('loading').hidden = true;
  byId('finish').disabled = false;
  byId('exact').textContent = film.plan.exact === false ? word('mark.rows_only') : '';
  dialogueRows();
  draw();
  byId('bar').focus({ preventScroll: true });
  // In sight are the picture, then the bar, then the last button, as far as the window is high enough.
  for (const name of ['finish', 'bar', 'view']) byId(name).scrollIntoView({ block: 'nearest' });
  if (!finished && !edits.marks.length && answer.standing.stage !== 'qualify' && !sessionStorage.getItem('rules') && !byId('dialog').open) rules();
}

/** Says that the recording on screen was ended in another tab or browser, unless this page has ended it. */
function endedElsewhere() {
  if (item.isEnded || recording.ending === item.item) return;
  item.isEnded = true;
  sayAbout('ended', word('mark.ended_elsewhere'));
}

/** @param {boolean} [confirmed] */
async function finish(confirmed = false) {
  const button = byId('finish');
  if (button.disabled) return; // pressed again before the next recording is on screen
  if (!confirmed && !edits.marks.length && watched(film) < LITTLE_WATCHED) {
    askToFinish(word('finish.unwatched', { share: watched(film) }));
    return;
  }
  playback.play(false);
  await recording.end(async (address) => {
    button.disabled = true;
    try {
      await everythingSent();
      const answer = await postUntilAnswered(`${address}/finish`, { confirmed, seen: film.seen.size });
      if (!answer.finished) {
        await allClosed();
        askToFinish(word('finish.unsigned', { count: answer.unsigned.length }));
        return;
      }
      item.isEnded = true;
      forgetRefused();
      if (answer.result) {
        await allClosed();
        showResults(answer.result, () => guarded(() => recording.end(next)));
      } else {
        await next();
      }
    } finally {
      button.disabled = !byId('loading').hidden; // the next one may have been skipped, and another one be loaded
    }
  });
}

// ---- dialogs

/** Ends the recording without its marks being complete. @param {string} how @param {any} [body] */
function leave(how, body) {
  return recording.end(async (address) => {
    await everythingSent();
    await postUntilAnswered(`${address}/${how}`, body);
    item.isEnded = true;
    await next();
  });
}

/** Asks before finishing all the same. @param {string} text */
const askToFinish = (text) => recording.ask('finish.title', text, 'finish.anyway', () => finish(true));
const unusable = () => recording.askWhyUnusable((reason) => leave('unusable', { reason }));
const skip = () => recording.ask('skip.title', word('skip.text'), 'mark.skip', () => leave('skip'));

function rules() {
  playback.play(false);
  sessionStorage.setItem('rules', 'read');
  showRules();
}

/** @param {Object<string, string>} changed */
function setKeys(changed) {
  keys = changed;
  actions = actionsByKey(keys);
  keyList();
  settings.change({ keys });
}

// ---- events

/** @type {Object<string, () => any>} */
const acts = {
  plus: () => markMoment(1, 'key'),
  minus: () => markMoment(-1, 'key'),
  undo: () => edits.undo(),
  redo: () => edits.redo(),
  play: () => playback.play(!playback.playing),
  back: () => go(film.wanted - step()),
  forward: () => go(film.wanted + step()),
  picture_back: () => go(film.wanted - film.plan.full_every),
  picture_forward: () => go(film.wanted + film.plan.full_every),
  far_back: () => go(film.wanted - FAR_SECONDS * film.plan.rate),
  far_forward: () => go(film.wanted + FAR_SECONDS * film.plan.rate),
  faster: () => playback.faster(1),
  slower: () => playback.faster(-1),
  mark_back: () => toMark(-1),
  mark_forward: () => toMark(1),
  said_forward: () => toUtterance(1),
  said_back: () => toUtterance(-1),
  earlier: () => moveMark(-1),
  later: () => moveMark(1),
  remove: removeMark,
  unusable,
  skip,
  finish: () => finish(item.isEnded), // then nothing is asked: the next recording follows
};

/** Runs the action of a key or a button; while the film is not there yet, only what needs none. @param {string} action */
function run(action) {
  if ((film?.plan && byId('loading').hidden) || ['unusable', 'skip'].includes(action)) guarded(acts[action]);
}

addEventListener('keydown', (event) => {
  if (!item || byId('dialog').open || event.ctrlKey || event.metaKey) return;
  const target = /** @type {any} */ (event.target);
  const action = actions.get(keyName(event));
  if (!action || (target.matches('button, a, input') && ['Space', 'Enter'].includes(keyName(event)))) return;
  event.preventDefault();
  if (['plus', 'minus', 'remove', 'play', 'finish', 'skip', 'unusable'].includes(action) && event.repeat) return;
  run(action);
});
for (const name of ['plus', 'minus']) byId(name).addEventListener('click', () => markMoment(name === 'plus' ? 1 : -1, 'click'));
for (const name of ['undo', 'redo', 'play', 'unusable', 'skip', 'finish']) byId(name).addEventListener('click', () => run(name));
byId('rules').addEventListener('click', rules);
byId('changeKeys').addEventListener('click', () => {
  playback.play(false);
  changeKeys(keys, setKeys);
});
byId('scrubPicture').checked = person.settings.scrub_picture ?? false;
byId('scrubPicture').addEventListener('change', () => {
  settings.change({ scrub_picture: byId('scrubPicture').checked });
});

playback.follow(timeline);
focusAfterClicks(byId('work'), byId('bar'));
byId('view').addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
  if (!film?.plan || !byId('scrubPicture').checked || playback.playing) return;
  const box = byId('view').getBoundingClientRect();
  playback.scrub(Math.round(((event.clientX - box.left) / box.width) * film.plan.frames));
});
addEventListener('resize', draw);
addEventListener('beforeunload', (event) => {
  if (byId('saved').classList.contains('waiting') || !settings.areSaved) event.preventDefault();
});

keyList();
playback.play(false);
outbox.send();
followKeptMarks(() => ({ item, edits }), outbox, draw, endedElsewhere);
if (study) await guarded(next);
else location.replace('/');
