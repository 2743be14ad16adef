// The texts of the pages, from words/en.json.

const ADDRESS = '/static/words/en.json';
const loaded = fetch(ADDRESS).then((answer) => {
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
});
/** @type {Object<string, string>} */
let table = {};

/** Loads the texts and puts them into the elements that name one with data-word. Without them the page shows only a
 * message, in English, and the error is thrown. */
export async function readWords() {
  try {
    table = await loaded;
  } catch (error) {
    const message = document.createElement('p');
    message.className = 'note bad';
    message.setAttribute('role', 'alert');
    message.textContent = `The texts of this page (${ADDRESS}) could not be loaded. Reload the page; if this message `
      + 'appears again, tell the person who invited you.';
    document.body.prepend(message);
    throw error;
  }
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
 * A text with its {names} replaced; {marks|mark|marks} is the number and the noun, "1 mark" or "2 marks".
 * @param {string} key @param {Object<string, any>} [values] @returns {string}
 */
export function word(key, values = {}) {
  const text = table[key] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]+)\|([^|}]+))?\}/g, (_, name, one, several) => {
    const value = String(values[name] ?? '');
    return one ? `${value} ${values[name] === 1 ? one : several}` : value;
  });
}
