// What every page begins with: its texts, the person, the bar at the top.
import { get, post, Refused } from './api.js';
import { make } from './dom.js';
import { ANSWER_MS, SILENT_MS, sayWaiting } from './waiting.js';
import { readWords, word } from './words.js';

/** Links of the bar: path, key of the text, roles that see it (none: everyone). */
const LINKS = [
  ['/', 'nav.home', []],
  ['/play', 'nav.play', ['play']],
  ['/desk/studies', 'nav.studies', ['research']],
  ['/desk/quality', 'nav.quality', ['adjudicate', 'research']],
  ['/data', 'nav.data', []],
];

/**
 * Reads texts and person, draws the bar, and shows the page; without a login it goes to the entrance.
 * @param {{login?: boolean}} [options] login false: the page is for everyone
 * @returns {Promise<any>} the person as /api/visitor gives it, or null
 */
export async function begin({ login = true } = {}) {
  addEventListener('error', (event) => unhandled(event.error));
  addEventListener('unhandledrejection', (event) => unhandled(event.reason));
  addEventListener('pageshow', (event) => event.persisted && location.reload()); // another person may be logged in now
  await readWords();
  const person = await sayWaiting(async () => {
    const timer = setTimeout(() => { document.querySelector('main').hidden = false; }, SILENT_MS); // its message says so
    return get('/api/visitor').finally(() => clearTimeout(timer));
  });
  if (login && !person) {
    location.replace('/i');
    return new Promise(() => {});
  }
  document.body.prepend(bar(person));
  document.querySelector('main').hidden = false;
  return person;
}

/** Shows a refusal that nothing else on the page shows; without a login it goes to the entrance. @param {unknown} error */
function unhandled(error) {
  if (!(error instanceof Refused)) return;
  const place = document.getElementById('message');
  document.querySelector('main').hidden = false; // also where the page could not begin
  if (error.status === 401) location.assign('/i');
  else if (place) say(place, error.message, 'bad');
}

/** @param {any} person */
function bar(person) {
  const links = LINKS.filter(([, , roles]) => person && (!roles.length || roles.some((role) => person.roles.includes(role))));
  return make(
    'header',
    { class: 'bar' },
    make('a', { class: 'skip', href: '#main', text: word('nav.skip') }),
    make('a', { class: 'name', href: '/', text: word('studio.name') }),
    make(
      'nav',
      { 'aria-label': word('nav.label') },
      ...links.map(([path, key]) =>
        make('a', { href: path, text: word(key), 'aria-current': location.pathname === path ? 'page' : null }),
      ),
    ),
    person && make('span', { class: 'who' }, word('nav.person', { person: person.person })),
    person &&
      make('button', {
        class: 'small',
        data: 'leave',
        text: word('nav.leave'),
        onclick: async () => {
          const isSaved = dispatchEvent(new Event('beforeunload', { cancelable: true })); // what a page says at its end
          if (!isSaved && !confirm(word('nav.unsaved'))) return;
          await sayWaiting(() => post('/api/leave', {}, ANSWER_MS));
          location.assign('/i');
        },
      }),
  );
}

/** A message that screen readers read out. @param {string} text @param {string} kind */
const note = (text, kind) => make('div', { class: `note ${kind}`, role: kind === 'bad' ? 'alert' : 'status', text });

/** Shows a message instead of all others in a place.
 * @param {Element} place @param {string} text @param {string} [kind] */
export function say(place, text, kind = '') {
  place.replaceChildren(text ? note(text, kind) : '');
}

/** Shows a message about a topic instead of the earlier one about it; an empty text removes that one. Messages about
 * other topics stay. @param {string} topic @param {string} text @param {string} [kind] */
export function sayAbout(topic, text, kind = '') {
  const place = /** @type {any} */ (document.getElementById('message'));
  [...place.children].find((each) => each.dataset.topic === topic)?.remove();
  if (!text) return;
  const message = note(text, kind);
  message.dataset.topic = topic;
  place.append(message);
}

let wasPaused = false;
/** Says that no recording follows the one on screen, where its study or the person has been paused. @param {boolean} paused */
export function sayPaused(paused) {
  if (paused !== wasPaused) sayAbout('paused', paused ? word('mark.paused') : '');
  wasPaused = paused;
}

/** Says that the login of the page has ended, or takes that back. @param {boolean} isOver */
export function sayLoggedOut(isOver) {
  sayAbout('login', isOver ? word('studio.logged_out') : '', 'bad');
}

/** Says that a film lacks pictures, or takes that back. @param {any} error null: none is refused any longer */
export function sayGaps(error) {
  sayAbout('film', error ? word('film.gaps', { problem: error.message }) : '', 'bad');
}

/** Runs an action of a page; what goes wrong is shown as the message about its topic. Without a login it goes to the
 * entrance. @param {() => any} act @param {string} [topic] */
export async function guarded(act, topic = 'action') {
  try {
    await act();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) location.assign('/i');
    else sayAbout(topic, /** @type {any} */ (error).message, 'bad');
  }
}

/** Lets a button copy the text of an element, and says so in the element behind the button. Where the browser refuses to,
 * as without TLS, the text is selected, so that a person can copy it. @param {any} button @param {any} element */
export function copyOnClick(button, element) {
  button.onclick = async () => {
    const said = button.nextElementSibling;
    said.textContent = ''; // screen readers read a text out that changes
    if (element.select) element.select();
    else getSelection()?.selectAllChildren(element);
    try {
      await navigator.clipboard.writeText(element.value ?? element.textContent);
      said.textContent = word('copy.done');
    } catch {
      said.textContent = word('copy.selected');
    }
  };
}
