// Keys by action; every one can be changed, and the choice is kept with the person.

export const DEFAULT_KEYS = {
  plus: '+ j',
  minus: '- k',
  undo: 'z',
  redo: 'Shift+z',
  play: 'Space',
  back: 'ArrowLeft',
  forward: 'ArrowRight',
  picture_back: ',',
  picture_forward: '.',
  far_back: 'Shift+ArrowLeft',
  far_forward: 'Shift+ArrowRight',
  faster: 'ArrowUp',
  slower: 'ArrowDown',
  mark_back: '[',
  mark_forward: ']',
  said_forward: 'n',
  said_back: 'p',
  earlier: 'Alt+ArrowLeft',
  later: 'Alt+ArrowRight',
  remove: 'Delete',
  unusable: 'f',
  skip: 's',
  finish: 'Enter',
};

/** What a key press types, in lower case; for a letter of another script, the Latin letter of the key's place.
 * @param {KeyboardEvent} event */
export function typed(event) {
  const own = event.key.toLowerCase();
  return own <= '\x7f' ? own : (/^Key([A-Z])$/.exec(event.code)?.[1] ?? own).toLowerCase();
}

/** The name of a key press, as `Shift+z`. @param {KeyboardEvent} event */
export function keyName(event) {
  if (event.key === ' ') return 'Space';
  const types = event.key.length === 1;
  const key = types ? typed(event) : event.key;
  const shift = event.shiftKey && (!types || /[a-z]/.test(key)) ? 'Shift+' : '';
  return `${event.altKey ? 'Alt+' : ''}${shift}${key}`;
}

/** Action by key. @param {Object<string, string>} chosen @returns {Map<string, string>} */
export function actionsByKey(chosen) {
  const found = new Map();
  for (const [action, keys] of Object.entries({ ...DEFAULT_KEYS, ...chosen })) {
    for (const key of keys.split(' ').filter(Boolean)) found.set(key, action);
  }
  return found;
}

/** The keys once an action has this key alone, which no other action has any longer.
 * @param {Object<string, string>} chosen @param {string} action @param {string} key @returns {Object<string, string>} */
export function assigned(chosen, action, key) {
  const others = Object.entries(chosen).map(([name, keys]) => [name, keys.split(' ').filter((each) => each !== key).join(' ')]);
  return { ...Object.fromEntries(others), [action]: key };
}

const SIGNS = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Delete: 'Del' };

/** Keys as people read them. @param {string} keys */
export function readable(keys) {
  return keys.replace(/Arrow\w+|Delete/g, (name) => /** @type {any} */ (SIGNS)[name]).split(' ').filter(Boolean);
}
