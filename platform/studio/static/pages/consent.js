// Consent comes before any data of a person.
import { get, post } from '../api.js';
import { byId, fill, make } from '../dom.js';
import { begin, say } from '../page.js';
import { onSubmit, sayWaiting } from '../waiting.js';
import { word } from '../words.js';

await begin();
const name = new URLSearchParams(location.search).get('study') ?? '';
const { studies } = await sayWaiting(() => get('/api/studies'));
const study = studies.find((/** @type {any} */ each) => each.name === name);
/** The page on which a person takes part in the study. */
const address = () => `${study.page}?study=${encodeURIComponent(name)}`;
if (!study) {
  location.replace('/');
} else if (study.standing.stage === 'over' && !study.agreed) {
  location.replace(address()); // nothing is left to agree to
} else {
  const { consent } = study;
  byId('form').hidden = study.agreed;
  byId('agreed').hidden = !study.agreed;
  byId('goOn').href = address();
  byId('title').textContent = study.title;
  byId('version').textContent = word('consent.version', consent);
  byId('intro').textContent = study.text;
  fill(byId('text'), ...consent.text.split('\n').map((/** @type {string} */ line) => make('p', { text: line })));
  const box = (/** @type {string} */ text, /** @type {number} */ number, free = false) => make(
    'label', { class: 'check' },
    make('input', { type: 'checkbox', name: 'statement', value: text, data: `statement-${number}` }),
    make('span', {}, make('span', { text }), free && make('span', { class: 'soft', text: ` ${word('consent.free')}` })),
  );
  const must = consent.must.map((/** @type {string} */ text, /** @type {number} */ n) => box(text, n));
  const may = consent.may.map((/** @type {string} */ text, /** @type {number} */ n) => box(text, must.length + n, true));
  fill(byId('statements'), ...must, ...may);
  onSubmit(byId('form'), async () => {
    const ticked = [...document.querySelectorAll('input[name=statement]:checked')].map((each) => /** @type {any} */ (each).value);
    try {
      await post(`/api/studies/${encodeURIComponent(name)}/consent`, { version: consent.version, text: consent.text, ticked });
      location.replace(address()); // Back leads to the page before this one
    } catch (error) {
      say(byId('message'), /** @type {any} */ (error).message, 'bad');
    }
  });
}
