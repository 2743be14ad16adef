// Keys, buttons and the pointer of a seat: which controls are held, and how far the pointer has moved in degrees.
import { word } from './words.js';

const DEGREES_PER_PIXEL = 0.15;
const TOUCH_DEGREES_PER_PIXEL = 0.3; // a finger has less room
const KEY_DEGREES_PER_SECOND = 90;
const WHEEL_MS = 120;

/** A key as people read it. @param {string} key */
export function keyName(key) {
  const known = word(`key.${key}`);
  return known === `key.${key}` ? key.replace(/^(Key|Digit)/, '') : known;
}

/** Whether the device has a keyboard, as far as the browser tells: its pointer is not a finger. */
export const hasKeys = () => !matchMedia('(hover: none) and (pointer: coarse)').matches;

export class SeatKeys {
  /** @param {HTMLElement} place that takes the keys @param {any[]} controls @param {() => void} changed */
  constructor(place, controls, changed) {
    this.controls = controls;
    this.changed = changed;
    /** Held keys by `KeyboardEvent.code`, or Mouse0, WheelUp. @type {Set<string>} */
    this.down = new Set();
    this.right = 0;
    this.up = 0;
    this.axes = controls.filter((control) => control.mode === 'axis');
    this.place = place;
    this.gone = new AbortController();
    this.listen();
  }

  /** Listens no longer. */
  stop() { this.gone.abort(); }

  listen() {
    const { place } = this;
    const { signal } = this.gone;
    document.addEventListener('keydown', (event) => this.key(event, true), { signal });
    document.addEventListener('keyup', (event) => this.key(event, false), { signal });
    for (const name of ['blur', 'pagehide']) window.addEventListener(name, () => this.release(), { signal });
    document.addEventListener('visibilitychange', () => document.hidden && this.release(), { signal });
    place.addEventListener('pointerdown', (event) => {
      place.focus();
      if (this.axes.length && document.pointerLockElement !== place) {
        if (event.pointerType !== 'touch') this.lock(); // fingers drag
        return; // the first click only takes the pointer
      }
      this.press(`Mouse${event.button}`, true);
    }, { signal });
    document.addEventListener('pointerup', (event) => this.press(`Mouse${event.button}`, false), { signal });
    place.addEventListener('contextmenu', (event) => event.preventDefault(), { signal });
    place.addEventListener('pointermove', (event) => {
      if (document.pointerLockElement === place || event.buttons) {
        const degrees = event.pointerType === 'touch' ? TOUCH_DEGREES_PER_PIXEL : DEGREES_PER_PIXEL;
        this.right += event.movementX * degrees;
        this.up -= event.movementY * degrees;
      }
    }, { signal });
    place.addEventListener('wheel', (event) => {
      event.preventDefault();
      const name = event.deltaY < 0 ? 'WheelUp' : 'WheelDown';
      this.press(name, true);
      setTimeout(() => this.press(name, false), WHEEL_MS);
    }, { passive: false, signal });
  }

  /** Takes the pointer; without raw movement where the system refuses it. Without a lock, dragging turns. */
  lock() {
    const asked = /** @type {any} */ (this.place).requestPointerLock({ unadjustedMovement: true });
    asked?.catch(() => Promise.resolve(this.place.requestPointerLock()).catch(() => {}));
  }

  /** @param {KeyboardEvent} event @param {boolean} down */
  key(event, down) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches('input, textarea, select') || (down && (event.ctrlKey || event.metaKey || event.altKey))) return;
    if (event.code === 'Space' && target.matches('button, a')) return;
    if (!this.controls.some((control) => control.keys.includes(event.code))) return;
    event.preventDefault();
    if (!event.repeat) this.press(event.code, down);
  }

  /** @param {string} name @param {boolean} down */
  press(name, down) {
    if (down === this.down.has(name)) return;
    if (down) this.down.add(name);
    else this.down.delete(name);
    this.changed();
  }

  release() {
    this.down.clear();
    this.right = this.up = 0;
    this.changed();
  }

  /** Bit i: the i-th control is held. */
  held() {
    return this.controls.reduce((bits, control, i) => bits | (control.mode !== 'axis' && control.keys.some((/** @type {string} */ key) => this.down.has(key)) ? 1 << i : 0), 0);
  }

  /** Degrees since the last call, with those of the arrow keys over `seconds`. @param {number} seconds */
  moved(seconds) {
    const ways = [this.right, this.up];
    this.axes.slice(0, 2).forEach((axis, i) => {
      const [less, more] = axis.keys;
      ways[i] += ((this.down.has(more) ? 1 : 0) - (this.down.has(less) ? 1 : 0)) * KEY_DEGREES_PER_SECOND * seconds;
    });
    this.right = this.up = 0;
    return ways;
  }
}
