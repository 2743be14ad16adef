// Agreement of raters, and adjudication: one lane a rater, and one's own, which becomes the answer.
import { get, post } from '../api.js';
import { byId, fill, make, newId } from '../dom.js';
import { Film } from '../film.js';
import { keyName } from '../keys.js';
import { begin, sayAbout, sayGaps } from '../page.js';
import { clock } from '../playback.js';
import { Timeline } from '../timeline.js';
import { word } from '../words.js';

const CLUSTER_SECONDS = 1;
const MOST_LISTED = 40;
const COLUMNS = ['raters', 'episodes', 'f1', 'chance', 'corrected', 'same_sign', 'lateness', 'ordered_alike', 'alpha'];

const person = await begin();
const timeline = new Timeline(byId('bar'), { said: word('mark.lane_said'), loaded: word('mark.lane_loaded') });
/** The recording that can be worked on; null from the choice of another one until that one is here. @type {any} */
let work = null;
let chosen = ''; // the episode whose button was pressed last
let choices = 0; // how often another recording, or none, has been chosen
let lists = 0; // how often the list was asked for
let keeping = false; // whether agreed marks are on their way
/** @type {any} */ let film = null;
/** @type {{id: string, frame: number, sign: number}[]} */ let mine = [];
/** What was set and not kept yet, by episode. @type {Map<string, {id: string, frame: number, sign: number}[]>} */
const drafts = new Map();

/** @param {() => any} act */
async function guarded(act) {
  try {
    await act();
  } catch (error) {
    sayAbout('action', /** @type {any} */ (error).message, 'bad');
  }
}

/** Whether the chosen recording can be marked: its first picture is on screen. */
const isReady = () => Boolean(work) && film?.shown >= 0;

function setButtons() {
  for (const name of ['plus', 'minus', 'remove', 'copyAll']) byId(name).disabled = !isReady();
  byId('finish').disabled = !isReady() || keeping;
  byId('leaveOut').disabled = !work; // its film may be what is wrong with it
}

/** A number, names, or [value, low, high] as text; one episode has no interval. @param {string} name of the column
 * @param {any} value @param {number} episodes */
function cell(name, value, episodes) {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return typeof value[0] === 'string' ? value.join(', ') : episodes < 2 || value[1] === null ? value[0].toFixed(2) : `${value[0].toFixed(2)} (${value[1].toFixed(2)} – ${value[2].toFixed(2)})`;
  return name === 'episodes' ? String(value) : value.toFixed(2);
}

async function showRaters() {
  byId('agreement').hidden = false;
  const { pairs } = await get('/api/quality/raters').finally(() => { byId('comparing').hidden = true; });
  byId('noPairs').hidden = pairs.length > 0;
  fill(byId('pairsHead'), ...[pairs].filter((found) => found.length).map(() => make('tr', {}, ...COLUMNS.map((name) => make('th', { text: word(`quality.${name}`) })))));
  fill(byId('pairs'), ...pairs.map((/** @type {any} */ pair) => make('tr', {}, ...COLUMNS.map((name) => make('td', { text: cell(name, pair[name], pair.episodes) })))));
}

async function showDisputed() {
  const list = ++lists;
  const { episodes } = await get('/api/quality/disputed');
  if (list !== lists) return; // a newer list has been asked for since
  byId('nothing').hidden = episodes.length > 0;
  byId('more').textContent = episodes.length > MOST_LISTED ? word('quality.more', { shown: MOST_LISTED, count: episodes.length }) : '';
  fill(byId('disputed'), ...episodes.slice(0, MOST_LISTED).map((/** @type {any} */ each) => make('button', {
    class: 'small',
    data: `episode-${each.episode}`,
    title: word('quality.episode', { episode: each.episode, f1: each.f1.toFixed(2) }),
    'aria-pressed': String(each.episode === chosen),
    onclick: () => guarded(() => open(each)),
  }, make('code', { text: each.episode.slice(-8) }), make('span', { class: 'soft', text: each.f1.toFixed(2) }), each.agreed && make('span', { class: 'tag', text: word('quality.agreed') }))));
}

/** Takes the recording off the page. What was set in it stays in `drafts`. */
function close() {
  choices += 1;
  film?.close();
  film = work = null;
  mine = [];
  fill(byId('dialogue'));
  fill(byId('bar'));
  byId('number').textContent = byId('episode').textContent = '';
  sayAbout('film', '');
  setButtons();
}

/** @param {any} each */
async function open(each) {
  close();
  byId('loading').hidden = false;
  for (const button of byId('disputed').children) button.setAttribute('aria-pressed', String(button.dataset.testid === `episode-${each.episode}`));
  chosen = each.episode;
  const choice = choices;
  const found = await get(`/api/quality/episodes/${each.episode}`).catch((error) => {
    if (choice !== choices) return null;
    byId('loading').hidden = byId('work').hidden = true;
    throw error;
  });
  if (choice !== choices) return; // another one, or this one again, has been chosen since
  work = { ...found, ...each };
  const own = `agreed:${person.person}`;
  mine = drafts.get(each.episode) ?? work.lanes.find((/** @type {any} */ lane) => lane.rater === own)?.marks ?? [];
  work.lanes = work.lanes.filter((/** @type {any} */ lane) => lane.rater !== own);
  byId('work').hidden = false;
  byId('episode').textContent = word('quality.episode', { episode: each.episode, f1: each.f1.toFixed(2) });
  const opened = new Film(`/api/recordings/${each.episode}`, byId('canvas'), shown, draw, sayGaps);
  film = opened;
  setButtons();
  try {
    await opened.open();
  } catch (error) {
    if (film === opened) sayAbout('film', word('mark.no_film', { problem: /** @type {any} */ (error).message }), 'bad');
    return;
  } finally {
    if (film === opened) byId('loading').hidden = true;
  }
  if (film !== opened) return; // another one has been chosen since
  setButtons();
  fill(byId('dialogue'), ...work.dialogue.map((/** @type {any} */ spoken) => make('li', { class: spoken.role },
    make('button', { class: 'go', text: clock(film, spoken.frame), 'aria-label': word('mark.go', { clock: clock(film, spoken.frame) }), onclick: () => film.want(spoken.frame) }),
    make('span', { class: 'text' }, make('span', { class: 'role', text: word(`role.${spoken.role}`) }), make('span', { text: spoken.text })))));
  draw();
  byId('bar').focus();
}

/** @param {number} frame */
function shown(frame) {
  byId('number').textContent = word('mark.number', { frame, clock: clock(film, frame) });
  byId('bar').setAttribute('aria-valuetext', clock(film, frame));
  setButtons();
  draw();
}

function draw() {
  if (!work || !film?.plan) return;
  const span = film.plan.full_every * film.plan.chunk;
  timeline.draw({
    frames: work.frames,
    cursor: Math.max(0, film.shown),
    dialogue: work.dialogue,
    lanes: [...work.lanes.map((/** @type {any} */ lane) => ({ name: lane.rater.slice(0, 9), marks: lane.marks })), { name: word('quality.you'), marks: mine }],
    loaded: [...film.chunks.keys()].map((n) => [n * span, Math.min(work.frames, (n + 1) * span)]),
  });
}

/** Sets what is right instead. @param {typeof mine} marks */
function set(marks) {
  mine = marks;
  drafts.set(work.episode, mine);
  draw();
}

/** A mark at frame f is stored at the frame before it. @param {number} sign */
function mark(sign) {
  if (!isReady()) return;
  set([...mine, { id: newId(), frame: Math.min(Math.max(film.shown - 1, 0), work.frames - 1), sign }]);
}

function remove() {
  if (!isReady()) return;
  const near = [...mine].sort((a, b) => Math.abs(a.frame - film.shown) - Math.abs(b.frame - film.shown))[0];
  set(mine.filter((each) => each !== near));
}

/** Copies each moment that most raters marked alike: the median of the marks of a sign within a second. */
function copyClusters() {
  if (!isReady()) return;
  const within = CLUSTER_SECONDS * film.plan.rate;
  const lanes = work.lanes.filter((/** @type {any} */ lane) => !lane.rater.startsWith('agreed:'));
  for (const sign of [1, -1]) {
    const all = lanes.flatMap((/** @type {any} */ lane, /** @type {number} */ n) => lane.marks.filter((/** @type {any} */ each) => each.sign === sign).map((/** @type {any} */ each) => ({ frame: each.frame, n })));
    all.sort((/** @type {any} */ a, /** @type {any} */ b) => a.frame - b.frame);
    for (let start = 0; start < all.length;) {
      let end = start;
      while (end < all.length && all[end].frame - all[start].frame <= within) end += 1;
      const cluster = all.slice(start, end);
      if (new Set(cluster.map((/** @type {any} */ each) => each.n)).size * 2 > lanes.length) {
        const { frame } = cluster[Math.floor(cluster.length / 2)];
        if (!mine.some((each) => each.frame === frame && each.sign === sign)) set([...mine, { id: newId(), frame, sign }]);
      }
      start = end;
    }
  }
}

async function finish() {
  const { episode } = work;
  const marks = mine;
  const sent = marks.map(({ id, frame, sign }) => ({ id, frame, sign }));
  keeping = true;
  setButtons();
  try {
    await post(`/api/quality/episodes/${episode}/agreed`, { marks: sent });
  } finally {
    keeping = false;
    setButtons();
  }
  if (drafts.get(episode) === marks) drafts.delete(episode); // else more was set meanwhile
  sayAbout('action', word('quality.kept', { marks: marks.length }), 'good');
  await showDisputed();
}

byId('bar').addEventListener('pointermove', (/** @type {PointerEvent} */ event) => film?.plan && film.want(timeline.frameAt(event.clientX)));
byId('plus').addEventListener('click', () => mark(1));
byId('minus').addEventListener('click', () => mark(-1));
byId('remove').addEventListener('click', remove);
byId('leaveOut').hidden = !person.roles.includes('research');
byId('leaveOut').addEventListener('click', () => guarded(async () => {
  const { episode } = work;
  await post(`/api/desk/recordings/${episode}/void`, { reason: word('quality.void_reason') });
  drafts.delete(episode);
  if (chosen === episode) { // else another one has been chosen since
    close();
    chosen = '';
    byId('work').hidden = true;
  }
  sayAbout('action', word('quality.voided', { episode }), 'good');
  await showDisputed();
}));
byId('copyAll').addEventListener('click', copyClusters);
byId('finish').addEventListener('click', () => guarded(finish));
addEventListener('resize', draw);
addEventListener('beforeunload', (event) => drafts.size && event.preventDefault());
addEventListener('keydown', (event) => {
  if (!isReady() || event.ctrlKey || event.metaKey) return;
  const step = film?.plan?.strip_every ?? 1;
  /** @type {Object<string, () => any>} */
  const acts = { '+': () => mark(1), j: () => mark(1), '-': () => mark(-1), k: () => mark(-1), a: copyClusters, Delete: remove, ArrowLeft: () => film.want(film.shown - step), ArrowRight: () => film.want(film.shown + step) };
  const key = keyName(event);
  if (!acts[key]) return;
  event.preventDefault();
  if (!event.repeat || key.startsWith('Arrow')) acts[key]();
});

if (person.roles.includes('research')) await guarded(showRaters);
await guarded(showDisputed);
