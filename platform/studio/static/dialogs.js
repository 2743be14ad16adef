// Dialogs over a page, one at a time, in its element `dialog`.
import { byId, fill, make } from './dom.js';
import { word } from './words.js';

/** Opens the dialog. @param {...any} children */
export function open(...children) {
  fill(byId('dialog'), ...children);
  byId('dialog').showModal();
  byId('dialog').scrollTop = 0; // where it is higher than the window, the focus has moved it to its end
}

/** Waits until no dialog is open: another one would replace what is being typed in it. */
export async function allClosed() {
  while (byId('dialog').open) await new Promise((closed) => byId('dialog').addEventListener('close', closed, { once: true }));
}

export const close = () => byId('dialog').close();
export const heading = (/** @type {string} */ text) => make('h2', { id: 'dialogTitle', text });

/** A button that closes the dialog, then acts. @param {Object<string, any>} looks @param {() => any} [act] */
export const closing = (looks, act) => make('button', { ...looks, onclick: () => { close(); act?.(); } });

/** Asks before an act; the focus is on Cancel, so that a key pressed twice does not confirm.
 * @param {string} title @param {string} text @param {string} yes @param {() => any} act */
export function ask(title, text, yes, act) {
  open(
    heading(word(title)),
    make('p', { text }),
    make('div', { class: 'row' },
      closing({ class: 'primary', data: 'yes', text: word(yes) }, act),
      closing({ data: 'no', autofocus: true, text: word('dialog.no') })),
  );
}
