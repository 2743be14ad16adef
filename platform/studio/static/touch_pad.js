// Buttons for the controls of a seat, where people play by touch.
import { fill, make } from './dom.js';
import { keyName } from './seat_keys.js';

/** Keys whose places on a keyboard matter, as those of W, A, S and D: rows from the top, columns from the left. */
const ROWS = ['QWERT', 'ASDFG', 'ZXCVB'];

/** Row and column of a key, or null. @param {string} key */
function placed(key) {
  const row = ROWS.findIndex((letters) => key.startsWith('Key') && letters.includes(key[3]));
  return row < 0 ? null : { row, column: ROWS[row].indexOf(key[3]) };
}

/** Ranks of the values that occur, from 1. @param {number[]} values */
function ranks(values) {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  return (/** @type {number} */ value) => sorted.indexOf(value) + 1;
}

/** Shows a button for each control of a seat, and one for each direction of an axis. They are arranged as the keys are.
 * @param {HTMLElement} place @param {import('./seat_keys.js').SeatKeys} keys */
export function showPad(place, keys) {
  const toggles = keys.controls.filter((control) => control.mode === 'toggle');
  const buttons = keys.controls.flatMap((control) => {
    const turns = control.mode === 'axis';
    const used = turns ? control.keys : [control.keys.find(placed) ?? control.keys.at(-1)];
    return used.map((/** @type {string} */ key) => ({
      at: placed(key),
      button: make('button', {
        text: turns ? keyName(key) : control.label,
        'aria-label': turns ? `${control.label} ${keyName(key)}` : null,
        'aria-pressed': control.mode === 'toggle' ? 'false' : null,
        'data-toggle': control.mode === 'toggle' ? toggles.indexOf(control) : null,
        data: `touch-${control.name}${turns ? `-${key}` : ''}`,
        onpointerdown: (/** @type {PointerEvent} */ event) => {
          /** @type {Element} */ (event.target).setPointerCapture(event.pointerId); // also of a mouse, until it is let go
          keys.press(key, true);
        },
        onlostpointercapture: () => keys.press(key, false),
        oncontextmenu: (/** @type {Event} */ event) => event.preventDefault(), // of a long press
      }),
    }));
  });
  const lines = new Set(buttons.flatMap(({ at }) => at?.row ?? []));
  const grid = lines.size > 1 ? buttons.filter(({ at }) => at) : []; // one line needs no columns
  const [row, column] = [ranks(grid.map(({ at }) => at.row)), ranks(grid.map(({ at }) => at.column))];
  for (const { at, button } of grid) Object.assign(button.style, { gridRow: row(at.row), gridColumn: column(at.column) });
  for (const { button } of buttons) button.style.flexGrow = button.textContent.length; // longer labels get more of a row
  const others = buttons.filter((each) => !grid.includes(each));
  fill(place, ...[grid, others].filter((part) => part.length).map((part) => (
    make('div', { class: part === grid ? 'placed' : 'row' }, ...part.map(({ button }) => button)))));
  place.hidden = !buttons.length;
}

/** Shows which of the toggles are on. @param {HTMLElement} place @param {number} toggles bit i: the i-th one is on */
export function showToggles(place, toggles) {
  for (const button of place.querySelectorAll('[aria-pressed]')) {
    const isOn = String(Boolean((toggles >>> Number(/** @type {HTMLElement} */ (button).dataset.toggle)) & 1));
    if (button.getAttribute('aria-pressed') !== isOn) button.setAttribute('aria-pressed', isOn);
  }
}
