// What a person can do here: its studies, and for researchers the desk.
import { get } from '../api.js';
import { byId, fill, make, toldApart } from '../dom.js';
import { begin, say } from '../page.js';
import { sayWaiting } from '../waiting.js';
import { word } from '../words.js';

const DESK = [
  ['/desk/studies', 'nav.studies', 'home.studies_text', 'research'],
  ['/desk/quality', 'nav.quality', 'home.quality_text', 'adjudicate'],
];

const person = await begin();
const { studies } = await sayWaiting(() => get('/api/studies'));

/** @param {any} study */
function card(study) {
  const { standing } = study;
  const query = `?study=${encodeURIComponent(study.name)}`;
  const over = standing.stage === 'over';
  const { page } = study;
  const ended = page === '/play' ? `play.over_${standing.outcome}` : `done.${standing.outcome}`;
  const state = over ? word(standing.outcome ? ended : standing.paused === 'closed' ? 'done.closed' : 'done.paused') : '';
  const where = standing.stage === 'consent' && page !== '/play' ? `/consent${query}` : `${page}${query}`;
  return make(
    'section', { class: 'card' },
    make('div', { class: 'row spread' }, make('h2', { text: study.title }), make('span', { class: 'tag plain', text: word(`kind.${study.kind}`) })),
    make('p', { text: study.text }),
    study.finished > 0 && make('p', { class: 'soft', text: word('home.finished', { count: study.finished }) }),
    over && make('p', { text: state }),
    standing.code && make('p', {}, `${word('done.code')} `, make('code', { text: standing.code })),
    (!over || standing.outcome) && make('a', { class: 'button primary', href: where, data: `study-${study.name}`, ...toldApart(word(over ? 'home.open' : study.finished ? 'home.go_on' : 'home.begin'), study.title) }),
  );
}

fill(byId('studies'), ...studies.map(card));
const desk = DESK.filter(([, , , role]) => person.roles.includes(role));
if (!studies.length && !desk.length) say(byId('message'), word('home.nothing'));
byId('deskTitle').hidden = !desk.length;
fill(byId('desk'), ...desk.map(([path, name, text]) => make(
  'section', { class: 'card' }, make('h2', { text: word(name) }), make('p', { text: word(text) }),
  make('a', { class: 'button', href: path, ...toldApart(word('home.open'), word(name)) }),
)));
