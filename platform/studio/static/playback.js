// Playing a film, and moving it with the pointer.
import { word } from './words.js';

const SPEEDS = [0.25, 0.5, 1, 1.5, 2, 4];
const LONGEST_PAUSE = 1000; // milliseconds between two pictures; after more, the page was hidden or the computer slept

export class Playback {
  /**
   * @param {() => any} film the film that is open, or null
   * @param {(playback: Playback) => void} changed called when it starts, stops, or changes its speed
   */
  constructor(film, changed) {
    this.film = film;
    this.changed = changed;
    this.playing = false;
    this.speed = 1;
    this.from = 0;
    this.since = 0;
    this.ticked = 0;
    this.scrubTo = -1;
  }

  /** @param {boolean} on */
  play(on) {
    const film = this.film();
    const before = this.playing;
    this.playing = on;
    this.changed(this);
    if (!on) return;
    this.from = film.shown >= film.plan.frames ? 0 : film.shown;
    this.since = this.ticked = performance.now();
    if (!before) requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    const film = this.film();
    if (now - this.ticked > LONGEST_PAUSE) this.since += now - this.ticked; // the film stood still
    this.ticked = now;
    const frame = this.from + ((now - this.since) / 1000) * film.plan.rate * this.speed;
    film.want(Math.min(frame, film.plan.frames), 1);
    if (frame >= film.plan.frames) this.play(false);
    else requestAnimationFrame((next) => this.tick(next));
  }

  /** @param {number} direction */
  faster(direction) {
    const at = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    if (this.playing) this.play(true);
    else this.changed(this);
  }

  /** Shows a frame. @param {number} frame */
  go(frame) {
    const film = this.film();
    if (film?.plan) film.want(frame, frame >= film.shown ? 1 : -1);
  }

  /** Shows the frame that was asked for last, once for each picture of the screen. @param {number} frame */
  scrub(frame) {
    if (this.scrubTo < 0) requestAnimationFrame(() => { const to = this.scrubTo; this.scrubTo = -1; this.go(to); });
    this.scrubTo = frame;
  }

  /** Stops, and shows the frame under the pointer while it moves over a bar. @param {any} timeline */
  follow(timeline) {
    const { element } = timeline;
    element.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
      if (!this.film()?.plan) return;
      if (this.playing) this.play(false);
      this.scrub(timeline.frameAt(event.clientX));
    });
    element.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => this.go(timeline.frameAt(event.clientX)));
  }
}

/** The loaded parts of a film, as [first, last] frames. @param {any} film @returns {[number, number][]} */
export function loadedParts(film) {
  const { plan, chunks } = film;
  if (!plan) return [];
  const span = plan.full_every * plan.chunk;
  return [...chunks.keys()].map((number) => [number * span, Math.min(plan.frames, (number + 1) * span)]);
}

/** The time of a frame of a film. @param {any} film @param {number} frame */
export const clock = (film, frame) => minutes(frame / film.plan.rate);

/** The moment on screen with its marks, for screen readers. @param {any} film @param {import('./mark_edits.js').Mark[]} marks */
export function spokenMoment(film, marks) {
  const here = marks.filter(({ shown }) => shown === film.shown);
  return [clock(film, Math.max(0, film.shown)), ...here.map(({ sign }) => word(sign > 0 ? 'mark.plus' : 'mark.minus'))].join(', ');
}

/** Seconds as 1:02.50. @param {number} seconds */
export function minutes(seconds) {
  const hundredths = Math.round(seconds * 100);
  return `${Math.floor(hundredths / 6000)}:${((hundredths % 6000) / 100).toFixed(2).padStart(5, '0')}`;
}

/** The percentage of the recorded steps that were on screen, of those after a frame. @param {any} film @param {number} [after] */
export function watched(film, after = -1) {
  const step = film.plan.strip_every;
  const rows = new Set([...film.seen].map((each) => Math.round(each / step)).filter((row) => row * step > after));
  const before = Math.min(Math.floor(after / step) + 1, film.plan.rows - 1);
  return Math.min(100, Math.round((100 * rows.size) / (film.plan.rows - before)));
}
