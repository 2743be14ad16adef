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

/** The element of this id. @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** Listens to a form, which is inert until then: submitted by the browser, it would leave the page. Submitted again
 * before the act is over, as by a double click, it does nothing. @param {any} form @param {() => any} act */
export function onSubmit(form, act) {
  let busy = false;
  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    try {
      await act();
    } finally {
      busy = false;
    }
  });
  form.inert = false;
}

/** Copies the text of an element, and selects it, so that a person can copy it where the browser refuses to.
 * @param {any} element */
export function copy(element) {
  if (element.select) element.select();
  else getSelection()?.selectAllChildren(element);
  navigator.clipboard?.writeText(element.value ?? element.textContent).catch(() => {}); // undefined without TLS
}

/** Replaces what an element holds. @param {Element} element @param {...(Node|string)} children */
export function fill(element, ...children) {
  element.replaceChildren(...children);
}
