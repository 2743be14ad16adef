// The text over the picture of a seat, whose seconds count down.

export class Overlay {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.ticking = 0;
  }

  /** Shows a text, and writes it anew each second until none is left.
   * @param {(seconds: number) => string} text @param {number} [seconds] those that are left now */
  show(text, seconds = 0) {
    clearInterval(this.ticking);
    const until = performance.now() + 1000 * seconds;
    const write = () => {
      const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.place.textContent = text(left);
      if (!left) clearInterval(this.ticking);
    };
    if (seconds) this.ticking = setInterval(write, 1000);
    write();
  }
}
