// The researcher's studies, invitations, people and audit log.
import { get, post } from '../api.js';
import { byId, fill, make, toldApart } from '../dom.js';
import { begin, copyOnClick, say } from '../page.js';
import { onSubmit, sayWaiting } from '../waiting.js';
import { word } from '../words.js';

const ROLES = ['mark', 'play', 'copilot', 'adjudicate', 'research'];
const ROOT = 'p-root'; // the researcher, who can't be deleted
const COLUMNS = ['person', 'roles', 'episodes', 'marks', 'sessions', 'minutes', 'last']; // of the people, as the studio gives them
const NOT_EDITED = ['have', 'want', 'version', 'revision', 'open']; // `open` has a button, and may change while a definition is typed

let unchanged = ''; // the definition as it was filled in or kept
let revision = ''; // of the study that it was filled in from or kept as
let forgotten = ''; // whose deletion was asked for last
let shows = 0; // how often what is shown was asked for
/** @type {any[]} */ let everyone = []; // in the order in which they came
let sorted = { by: '', down: false };

await begin();
byId('find').addEventListener('input', listPeople);
byId('forgetCancel').addEventListener('click', () => byId('forgetDialog').close());
fill(byId('role'), ...ROLES.map((role) => make('option', { value: role, text: word(`roles.${role}`) })));
fill(byId('peopleHead'), make('tr', {}, ...COLUMNS.map((name) => make('th', { data: `column-${name}` },
  make('button', { class: 'small', text: word(`people.${name}`), onclick: () => sortBy(name) }))), make('th', { text: word('people.actions') })));

/** Runs what a button asks for; what goes wrong is shown. @param {() => Promise<any>} act @param {string} [place] */
async function guarded(act, place = 'message') {
  say(byId(place), '');
  try {
    await act();
  } catch (error) {
    say(byId(place), /** @type {any} */ (error).message, 'bad');
  }
}

/** One line of a study's table. @param {string} name @param {any} value */
function setting(name, value) {
  return make('tr', {}, make('th', { text: word(`study.${name}`) }), make('td', { class: 'breaks', text: String(value) }));
}

/** What holds for recordings to mark, and not for episodes to play. @param {any} study */
function marking(study) {
  const share = (/** @type {number} */ value) => `${Math.round(100 * value)}%`;
  return [
    setting('raters', study.raters),
    setting('order', `${study.order}${study.order === 'random' ? '' : `, ${share(study.random_share)} random`}`),
    setting('checks', word('study.shares', { gold: share(study.checks.gold_share), swapped: share(study.checks.swapped_share) })),
    setting('qualification', study.qualification.golds.length ? word('study.golds', { count: study.qualification.golds.length, least: study.qualification.least_agreement }) : word('study.none')),
  ];
}

/** What holds for continuations to judge. @param {any} study */
function judging(study) {
  const { round, agents, tasks } = study.continuations;
  return [
    setting('raters', study.raters),
    setting('agents', agents.join(', ') || word('study.all')),
    setting('tasks', tasks.join(', ') || word('study.all')),
    setting('round', round ?? word('study.all')),
  ];
}

/** @param {any} study @param {string} [problem] of the scores by which its recordings are ordered */
function card(study, problem) {
  return make(
    'section', { class: 'card' },
    make('div', { class: 'row spread' }, make('h2', { text: `${study.name} v${study.version}` }), make('span', { class: `tag ${study.open ? '' : 'warm'}`, text: word(study.open ? 'study.is_open' : 'study.is_paused') })),
    make('p', { text: study.title }),
    problem && make('p', { class: 'note', text: problem }),
    make('table', {}, make('tbody', {},
      setting('progress', study.want ? word('study.of', study) : study.have),
      ...(study.kind === 'mark' ? marking(study) : study.kind === 'judge' ? judging(study) : []),
      setting('consent', word('study.version', study.consent)))),
    make('div', { class: 'row after' },
      make('button', { ...toldApart(word(study.open ? 'study.pause' : 'study.open'), study.name), data: `open-${study.name}`, onclick: () => guarded(async () => {
        await post(`/api/desk/studies/${study.name}/open`, { open: !study.open });
        await show();
      }) }),
      make('button', { ...toldApart(word('study.edit'), study.name), data: `edit-${study.name}`, onclick: () => change(study) })),
  );
}

/** @param {any} study */
function edit(study) {
  const shown = Object.fromEntries(Object.entries(study).filter(([name]) => !NOT_EDITED.includes(name)));
  byId('definition').value = unchanged = JSON.stringify(shown, null, 2);
  ({ revision } = study);
}

/** Whether the definition has been typed in since it was filled in or kept. */
const isTyped = () => byId('definition').value !== unchanged;

/** Fills in a study to be changed. @param {any} study */
function change(study) {
  if (isTyped() && !confirm(word('desk.overwrite', study))) return;
  edit(study);
  byId('definition').focus();
}

/** @param {any} each */
function person(each) {
  const pause = make('button', {
    class: 'small',
    ...toldApart(word(each.paused ? 'people.resume' : 'people.pause'), each.person),
    onclick: () => guarded(async () => {
      await post(`/api/desk/people/${each.person}/pause`, { reason: each.paused ? '' : word('people.by_hand') });
      await show();
    }),
  });
  return make('tr', {},
    make('td', {}, make('code', { text: each.person }), each.paused && make('div', { class: 'tag warm', text: each.paused })),
    make('td', { text: each.roles.join(', ') }),
    ...[each.episodes, each.marks, each.sessions, each.minutes].map((value) => make('td', { text: value })),
    make('td', { text: each.last ? new Date(each.last * 1000).toLocaleString() : '' }),
    make('td', {}, make('div', { class: 'row' }, pause, each.person !== ROOT && make('button', { class: 'small', ...toldApart(word('people.forget'), each.person), data: `forget-${each.person}`, onclick: () => guarded(() => askToForget(each.person)) }))));
}

/** Lists the people whose pseudonym contains what is typed, in the order that was chosen; those without a value are last. */
function listPeople() {
  const typed = byId('find').value.trim().toLowerCase();
  const found = everyone.filter((each) => each.person.includes(typed));
  const { by, down } = sorted;
  const value = (/** @type {any} */ each) => (Array.isArray(each[by]) ? each[by].join(', ') : each[by]);
  const compare = (/** @type {any} */ one, /** @type {any} */ other) => (one > other ? 1 : -1) * (down ? -1 : 1);
  fill(byId('people'), ...(by ? found.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    return a === b ? 0 : a === null ? 1 : b === null ? -1 : compare(a, b);
  }) : found).map(person));
  if (!found.length) fill(byId('people'), make('tr', {}, make('td', { colspan: COLUMNS.length + 1, text: word('people.not_found', { typed }) })));
}

/** Sorts the people by a column, numbers and times from the largest; a second press turns the order. @param {string} by */
function sortBy(by) {
  sorted = { by, down: by === sorted.by ? !sorted.down : !['person', 'roles'].includes(by) };
  COLUMNS.forEach((name, n) => byId('peopleHead').querySelectorAll('th')[n].setAttribute('aria-sort', name !== by ? 'none' : sorted.down ? 'descending' : 'ascending'));
  listPeople();
}

/** Lists what is kept of a person, and deletes it once the pseudonym is typed. @param {string} name */
async function askToForget(name) {
  forgotten = name;
  const kept = await get(`/api/desk/people/${name}/kept`);
  if (forgotten !== name || byId('forgetDialog').open) return; // what is being typed is about another one, or stays
  byId('forgetTitle').textContent = word('forget.title', { person: name });
  fill(byId('forgetList'), ...Object.entries(kept).map(([what, found]) => make('li', { class: 'breaks', text: `${word(`forget.${what}`)}: ${Array.isArray(found) ? found.length : found}` })));
  byId('forgetPerson').value = '';
  fill(byId('forgetMessage'));
  byId('forgetDialog').showModal();
}

/** A recording that is left out, and its way back. @param {[string, string]} flag */
function leftOut([episode, reason]) {
  return make('tr', {}, make('td', {}, make('code', { text: episode })), make('td', { class: 'breaks', text: reason }), make('td', {}, make('button', { class: 'small', ...toldApart(word('flag.take_back'), episode), data: `take-back-${episode}`, onclick: () => guarded(async () => {
    await post(`/api/desk/recordings/${episode}/void`, { reason: '' });
    await show();
  }) })));
}

async function show() {
  const number = ++shows;
  const [{ studies, flags, scores }, { people, audit }] = await Promise.all([get('/api/desk/studies'), get('/api/desk/people')]);
  if (number !== shows) return; // a newer state has been asked for since
  fill(byId('studies'), ...studies.map((/** @type {any} */ study) => card(study, scores[study.name])));
  everyone = people;
  listPeople();
  byId('leftOutPart').hidden = !Object.keys(flags).length;
  fill(byId('leftOut'), ...Object.entries(flags).map(leftOut));
  fill(byId('audit'), ...audit.map((/** @type {any} */ each) => {
    const { time, event, person: by, ...more } = each;
    return make('tr', {}, make('td', { class: 'mono', text: new Date(time * 1000).toLocaleString() }), make('td', {}, make('code', { text: by })), make('td', { text: event }), make('td', { class: 'soft breaks', text: Object.entries(more).filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`).join('; ') }));
  }));
  if (!byId('definition').value && studies.length) edit(studies[0]);
}

onSubmit(byId('forgetForm'), () =>
  guarded(async () => {
    const person = forgotten;
    const { kept_in: snapshots } = await post(`/api/desk/people/${person}/forget`, { person: byId('forgetPerson').value.trim() });
    if (forgotten === person) byId('forgetDialog').close(); // else it is about another person now
    say(byId('message'), word(snapshots.length ? 'forget.traces' : 'forget.done', { person, snapshots: snapshots.join(', ') }), 'good');
    await show();
  }, 'forgetMessage'));
onSubmit(byId('invite'), () =>
  guarded(async () => {
    const answer = await post('/api/desk/invitations', { roles: [byId('role').value], uses: Number(byId('uses').value), days: Number(byId('days').value) });
    byId('invitation').hidden = false;
    byId('address').value = location.origin + answer.path;
    byId('address').select();
    byId('copied').textContent = '';
    await show();
  }, 'inviteMessage'));
copyOnClick(byId('copy'), byId('address'));
/** The study that is typed. */
function definition() {
  try {
    return JSON.parse(byId('definition').value);
  } catch (error) {
    throw new Error(word('desk.no_json', { problem: /** @type {any} */ (error).message }));
  }
}
onSubmit(byId('edit'), () =>
  guarded(async () => {
    const typed = byId('definition').value;
    const filled = unchanged;
    const study = definition();
    const kept = await post(`/api/desk/studies?replaces=${revision}`, study).catch(async (error) => {
      if (error.status === 409) await show(); // so that Change fills in what is there now
      throw error;
    });
    if (unchanged === filled) { // else another definition has been filled in since
      unchanged = typed;
      ({ revision } = kept);
    }
    say(byId('editMessage'), word('desk.kept', kept), 'good');
    await show();
  }, 'editMessage'));
addEventListener('beforeunload', (event) => isTyped() && event.preventDefault());
await guarded(() => sayWaiting(show));
