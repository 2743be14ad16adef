// The marking page: scrub, mark, undo; nothing is lost, and nothing is sent twice.
import { post } from '../api.js';
import { byId, fill, make } from '../dom.js';
import { showEnd } from '../end.js';
import { Film } from '../film.js';
import { actionsByKey, DEFAULT_KEYS, keyName, readable } from '../keys.js';
import { ask, askWhyUnusable, changeKeys, showResults, showRules } from '../mark_dialogs.js';
import { MarkEdits } from '../mark_edits.js';
import { Outbox } from '../outbox.js';
import { begin, guarded, say, sayGaps } from '../page.js';
import { clock, loadedParts, Playback, watched } from '../playback.js';
import { Timeline } from '../timeline.js';
import { word } from '../words.js';

const FAR_SECONDS = 2;
const FLASH_MS = 500;
const LITTLE_WATCHED = 50; // percent; below it, finishing without a mark asks once

const person = await begin();
const study = new URLSearchParams(location.search).get('study') ?? '';
const studio = { drawn: 0, shown: 0, rtt: 0, source: '' };
/** @type {any} */ (window).studio = studio;

const timeline = new Timeline(byId('bar'), { said: word('mark.lane_said'), loaded: word('mark.lane_loaded') });
/** Changes that the studio has not kept, since a recording was finished: how many, and why the last one. */
const refused = { count: 0, problem: '' };
const outbox = new Outbox(person.person, (waiting, problem) => {
  byId('saved').textContent = waiting ? word('mark.saving', { waiting }) : word('mark.saved');
  byId('saved').classList.toggle('waiting', waiting > 0);
  studio.rtt = outbox.rtt;
  const lost = refused.count ? word('mark.refused', refused) : '';
  say(byId('message'), problem && problem !== 'waiting' ? problem : waiting && problem ? word('mark.offline') : lost, 'bad');
}, (_, body, problem) => {
  Object.assign(refused, { count: refused.count + 1, problem });
  edits.forget(body.id);
  draw();
});

/** @type {any} */ let item = null;
/** @type {any} */ let film = null;
let edits = new MarkEdits([], sent);
const playback = new Playback(() => film, ({ playing, speed }) => { byId('play').textContent = word(playing ? 'mark.pause' : 'mark.play', { speed }); });
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
  draw();
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
  const missing = item.dialogue.filter((/** @type {any} */ each) => each.role === 'solver' && !edits.marks.some((mark) => mark.utterance === each.number));
  byId('unsigned').textContent = missing.length ? word('mark.unsigned', { count: missing.length }) : '';
  for (const row of byId('dialogue').children) {
    const mine = edits.marks.find((mark) => mark.utterance === Number(row.dataset.number));
    for (const button of row.querySelectorAll('[aria-pressed]')) {
      button.setAttribute('aria-pressed', String(Boolean(mine) && mine?.sign === Number(button.dataset.sign)));
    }
  }
  byId('count').textContent = word(most ? 'mark.count_of' : 'mark.count', { episode: finished + 1, most, marks: edits.marks.length });
  byId('undo').disabled = !edits.past.length;
  byId('redo').disabled = !edits.future.length;
}

/** @param {number} frame */
function shown(frame) {
  byId('number').textContent = word('mark.number', { frame, clock: clock(film, frame) });
  studio.drawn = film.drawn;
  studio.shown = frame;
  studio.source = film.source;
  byId('bar').setAttribute('aria-valuetext', clock(film, frame));
  byId('watched').textContent = word('mark.watched', { share: watched(film) });
  let now = null;
  for (const row of byId('dialogue').children) {
    if (Number(row.dataset.frame) <= frame) now = row;
    row.classList.remove('now');
  }
  now?.classList.add('now');
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

async function next() {
  byId('finish').disabled = true; // until the film can be watched
  await outbox.empty();
  const answer = await post(`/api/mark/${encodeURIComponent(study)}/next`);
  if (answer.standing.stage === 'consent') {
    location.assign(`/consent?study=${encodeURIComponent(study)}`);
    return;
  }
  if (answer.standing.stage === 'judge') {
    location.replace(`/judge?study=${encodeURIComponent(study)}`);
    return;
  }
  film?.close();
  playback.play(false);
  fill(byId('dialogue')); // whose buttons would mark the next recording
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
    if (!opened.closed) say(byId('message'), word('mark.no_film', { problem: /** @type {any} */ (error).message }), 'bad');
    opened.plan ??= { rate: 30, strip_every: 1, frames: 0, rows: 1, full_every: 1, chunk: 1, chunks: 0, full_pictures: 0 };
  }
  if (opened.closed) return; // the recording was skipped meanwhile
  byId('loading').hidden = true;
  byId('finish').disabled = false;
  byId('exact').textContent = film.plan.exact === false ? word('mark.rows_only') : '';
  dialogueRows();
  draw();
  byId('bar').focus({ preventScroll: true });
  if (!finished && !edits.marks.length && answer.standing.stage !== 'qualify' && !sessionStorage.getItem('rules')) rules();
}

/** @param {boolean} [confirmed] */
async function finish(confirmed = false) {
  const button = byId('finish');
  if (button.disabled) return; // pressed again before the next recording is on screen
  if (!confirmed && !edits.marks.length && watched(film) < LITTLE_WATCHED) {
    askFirst('finish.title', word('finish.unwatched', { share: watched(film) }), 'finish.anyway', () => finish(true));
    return;
  }
  playback.play(false);
  button.disabled = true;
  try {
    await outbox.empty();
    const answer = await post(path('finish'), { confirmed, seen: film.seen.size });
    if (!answer.finished) {
      askFirst('finish.title', word('finish.unsigned', { count: answer.unsigned.length }), 'finish.anyway', () => finish(true));
    } else if (answer.result) {
      refused.count = 0;
      showResults(answer.result, () => guarded(next));
    } else {
      refused.count = 0;
      await next();
    }
  } finally {
    button.disabled = !byId('loading').hidden; // the next one may have been skipped, and another one be loaded
  }
}

// ---- dialogs

/** Runs an act on the recording that was asked about; where another one has come meanwhile, nothing.
 * @param {string} asked @param {() => any} act */
const actOn = (asked, act) => item?.item === asked && guarded(act);

/** Asks before an act, with the film stopped. @param {string} title @param {string} text @param {string} yes @param {() => any} act */
function askFirst(title, text, yes, act) {
  const asked = item.item;
  playback.play(false);
  ask(title, text, yes, () => actOn(asked, act));
}

function unusable() {
  const asked = item.item;
  playback.play(false);
  askWhyUnusable((reason) => actOn(asked, async () => {
    await outbox.empty();
    await post(path('unusable'), { reason });
    await next();
  }));
}

function skip() {
  askFirst('skip.title', word('skip.text'), 'mark.skip', async () => {
    await outbox.empty();
    await post(path('skip'));
    await next();
  });
}

function rules() {
  playback.play(false);
  sessionStorage.setItem('rules', 'read');
  showRules();
}

function keep() {
  actions = actionsByKey(keys);
  keyList();
  guarded(() => post('/api/me/settings', { keys, scrub_picture: byId('scrubPicture').checked }));
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
  finish: () => finish(),
};

/** Runs the action of a key or a button; while the film is not there yet, only what needs none. @param {string} action */
function run(action) {
  if (film?.plan || ['unusable', 'skip'].includes(action)) guarded(acts[action]);
}

addEventListener('keydown', (event) => {
  if (!item || byId('dialog').open || event.ctrlKey || event.metaKey) return;
  const target = /** @type {any} */ (event.target);
  if (target.matches('input, textarea, select')) return;
  const action = actions.get(keyName(event));
  if (!action || (target.matches('button, a') && ['Space', 'Enter'].includes(keyName(event)))) return;
  event.preventDefault();
  if (['plus', 'minus', 'finish', 'skip', 'unusable'].includes(action) && event.repeat) return;
  run(action);
});
for (const name of ['plus', 'minus']) byId(name).addEventListener('click', () => markMoment(name === 'plus' ? 1 : -1, 'click'));
for (const name of ['undo', 'redo', 'play', 'unusable', 'skip', 'finish']) byId(name).addEventListener('click', () => run(name));
byId('rules').addEventListener('click', rules);
byId('changeKeys').addEventListener('click', () => {
  playback.play(false);
  changeKeys(keys, (changed) => { keys = changed; keep(); });
});
byId('scrubPicture').checked = person.settings.scrub_picture ?? false;
byId('scrubPicture').addEventListener('change', keep);

playback.follow(timeline);
byId('view').addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
  if (!film?.plan || !byId('scrubPicture').checked || playback.playing) return;
  const box = byId('view').getBoundingClientRect();
  playback.scrub(Math.round(((event.clientX - box.left) / box.width) * film.plan.frames));
});
addEventListener('resize', draw);
addEventListener('beforeunload', (event) => byId('saved').classList.contains('waiting') && event.preventDefault());

keyList();
playback.play(false);
outbox.send();
if (study) await guarded(next);
else location.replace('/');
