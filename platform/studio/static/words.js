// The texts of the pages, from words/en.json.

const loaded = fetch('/static/words/en.json').then((answer) => answer.json());
/** @type {Object<string, string>} */
let table = {};

/** Loads the texts and puts them into the elements that name one with data-word. */
export async function readWords() {
  table = await loaded;
  for (const element of document.querySelectorAll('[data-word]')) {
    element.textContent = word(/** @type {any} */ (element).dataset.word);
  }
  for (const element of document.querySelectorAll('[data-label]')) {
    element.setAttribute('aria-label', word(/** @type {any} */ (element).dataset.label));
  }
  for (const element of document.querySelectorAll('[data-hint]')) {
    element.setAttribute('placeholder', word(/** @type {any} */ (element).dataset.hint));
  }
}

/**
 * A text with its {names} replaced.
 * @param {string} key @param {Object<string, any>} [values] @returns {string}
 */
export function word(key, values = {}) {
  const text = table[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}
