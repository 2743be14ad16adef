// The dialogs of the marking page.
import { closing, heading, open } from './dialogs.js';
import { byId, make } from './dom.js';
import { assigned, DEFAULT_KEYS, keyName, readable } from './keys.js';
import { minutes } from './playback.js';
import { word } from './words.js';

const REASONS = ['unusable.picture', 'unusable.words', 'unusable.nothing', 'unusable.other'];
const EXAMPLES = [[1, 'rules.e1'], [1, 'rules.e2'], [1, 'rules.e3'], [-1, 'rules.e4'], [-1, 'rules.e5'], [-1, 'rules.e6'], [-1, 'rules.e7']];
const UNASSIGNABLE = ['Tab', 'Escape', 'Shift', 'Alt', 'Control', 'Meta'];

/** Asks why a recording can't be judged. @param {(reason: string) => any} act */
export function askWhyUnusable(act) {
  const other = make('input', { id: 'reason', maxlength: 250, 'aria-label': word('unusable.words_for_it'), oninput: () => {
    /** @type {any} */ (choice[REASONS.length - 1].firstChild).checked = true; // 'Something else'
  } });
  const choice = REASONS.map((reason, number) => make('label', { class: 'check' },
    make('input', { type: 'radio', name: 'why', value: reason, checked: number === 0, data: `reason-${number}` }), make('span', { text: word(reason) })));
  open(
    heading(word('unusable.title')), ...choice, other,
    make('div', { class: 'row', style: null },
      closing({ class: 'primary', data: 'yes', text: word('mark.unusable') }, () => {
        const why = /** @type {any} */ (choice.find((each) => /** @type {any} */ (each.firstChild).checked)?.firstChild).value;
        act(`${word(why)} ${other.value}`.trim());
      }),
      closing({ data: 'no', text: word('dialog.no') })),
  );
}

export function showRules() {
  open(
    heading(word('rules.title')),
    make('p', { text: word('rules.plus') }), make('p', { text: word('rules.minus') }), make('p', { text: word('rules.answers') }),
    make('p', { class: 'soft', text: word('rules.example') }),
    make('ul', { class: 'examples' }, ...EXAMPLES.map(([sign, text]) => make('li', {},
      make('span', { class: Number(sign) > 0 ? 'progress' : 'slip', text: Number(sign) > 0 ? '▲' : '▼', 'aria-label': word(Number(sign) > 0 ? 'mark.plus' : 'mark.minus') }),
      make('span', { text: word(String(text)) })))),
    closing({ class: 'primary', data: 'continue', text: word('rules.begin') }),
  );
}

/** The answers of a practice recording. @param {any} result @param {() => any} act what follows */
export function showResults(result, act) {
  const lines = result.answers.map((/** @type {any} */ answer) => {
    const at = minutes(answer.seconds);
    const right = answer.late < 0 ? 'practice.early' : 'practice.right';
    const key = answer.right ? right : answer.late === null ? 'practice.missed' : 'practice.wrong';
    const late = Math.abs(answer.late);
    return make('p', { class: `note ${answer.right ? 'good' : 'bad'}`, text: word(key, { at, late, sign: answer.sign > 0 ? '▲' : '▼' }) });
  });
  open(
    heading(word('practice.title', { f1: result.f1.toFixed(2) })), ...lines,
    closing({ class: 'primary', data: 'continue', text: word('practice.next') }),
  );
  byId('dialog').addEventListener('close', act, { once: true }); // also by Escape
}

/** Changes the keys. @param {Object<string, string>} keys @param {(keys: Object<string, string>) => any} keep */
export function changeKeys(keys, keep) {
  /** @type {Object<string, string>} */ let changed = { ...DEFAULT_KEYS, ...keys };
  const names = () => Object.values(changed).map((each) => readable(each).join('  ') || word('keys.none'));
  const label = (/** @type {string} */ action, /** @type {string} */ name) => `${word(`key.${action}`)}: ${name}`;
  const rows = Object.keys(DEFAULT_KEYS).map((action, number) => make('tr', {},
    make('td', { text: word(`key.${action}`) }),
    make('td', {}, make('button', {
      class: 'small',
      data: `key-${action}`,
      text: names()[number],
      'aria-label': label(action, names()[number]),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (UNASSIGNABLE.includes(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
        changed = assigned(changed, action, keyName(event));
        byId('dialog').querySelectorAll('[data-testid^=key-]').forEach((/** @type {any} */ button, /** @type {number} */ i) => {
          button.textContent = names()[i];
          button.ariaLabel = label(Object.keys(DEFAULT_KEYS)[i], names()[i]);
        });
      },
    }))));
  open(
    heading(word('keys.title')), make('p', { text: word('keys.text') }),
    make('table', {}, make('tbody', {}, ...rows)),
    make('div', { class: 'row' },
      closing({ class: 'primary', data: 'keep-keys', text: word('keys.keep') }, () => keep(changed)),
      closing({ text: word('keys.defaults') }, () => keep({}))),
  );
}
