// Elements without HTML strings: text is only ever set as text, so nothing that people type is parsed.

/**
 * Makes an element.
 * @param {string} name tag name
 * @param {Object<string, any>} [given] attributes; `on...` are listeners, `text` is its text, `data` its data-testid
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function make(name, given = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'text') element.textContent = value;
    else if (key === 'data') element.dataset.testid = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** The text of a button or link that is on the page several times, and the name by which screen readers tell it from the others.
 * @param {string} text @param {string} of what it is about */
export const toldApart = (text, of) => ({ text, 'aria-label': `${text}: ${of}` });

/** The element of this id. @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** A random id: 32 hexadecimal digits. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Scrolls a list as far as one of its rows needs to be in sight; the page stays where it is. @param {any} list @param {any} row */
export function reveal(list, row) {
  const [around, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < around.top) list.scrollTop -= around.top - inner.top;
  else if (inner.bottom > around.bottom) list.scrollTop += inner.bottom - around.bottom;
}

/** Shows the end of a list that scrolls; the page stays where it is. @param {Element} list */
export function scrollDown(list) {
  list.scrollTop = list.scrollHeight;
}

/** Moves the focus to an element when a pointer presses a button of a place: on the button, the next Space or Enter, keys of
 * the page, would press it again. @param {Element} place @param {Element} element */
export function focusAfterClicks(place, element) {
  place.addEventListener('click', (/** @type {any} */ event) => { // detail 0: pressed by a key
    if (event.detail && event.target.closest('button')) /** @type {any} */ (element).focus({ preventScroll: true });
  }, { capture: true }); // before a dialog opens, which gives the focus back at its end
}

/** Replaces what an element holds. @param {Element} element @param {...(Node|string)} children */
export function fill(element, ...children) {
  element.replaceChildren(...children);
}
