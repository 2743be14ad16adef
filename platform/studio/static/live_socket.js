// The socket of a seat: binary inputs up, pictures and messages down.

const INPUT_BYTES = 24;
const HEAD_BYTES = 20;

export class LiveSocket {
  /**
   * @param {string} session @param {string} seat
   * @param {string} page an id of this page @param {number} number of this connection among those of the page
   * @param {{picture: (frame: number, jpeg: Blob, toggles: number) => void, message: (message: any) => void, closed: (reason: string, code: number) => void}} on
   */
  constructor(session, seat, page, number, on) {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.socket = new WebSocket(`${scheme}://${location.host}/live/${session}/${seat}?page=${page}&number=${number}`);
    this.socket.binaryType = 'arraybuffer';
    this.seq = 0;
    /** When each input was sent, by its number. @type {Map<number, number>} */
    this.sent = new Map();
    this.rtt = 0;
    this.shown = 0;
    this.socket.onmessage = (event) => {
      if (typeof event.data === 'string') on.message(JSON.parse(event.data));
      else this.read(event.data, on.picture);
    };
    this.socket.onclose = (event) => on.closed(event.reason, event.code);
    this.closed = on.closed;
  }

  /** Gives up a connection that does not answer, also one that does not open; the browser itself may notice minutes later. */
  drop() {
    if (this.socket.readyState > WebSocket.OPEN) return;
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.closed('', 1006);
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** @param {ArrayBuffer} data @param {(frame: number, jpeg: Blob, toggles: number) => void} picture */
  read(data, picture) {
    const view = new DataView(data);
    const applied = view.getUint32(8, true);
    for (const [seq, at] of this.sent) {
      if (seq > applied) break;
      this.rtt = performance.now() - at;
      this.sent.delete(seq);
    }
    picture(view.getUint32(4, true), new Blob([new Uint8Array(data, HEAD_BYTES)], { type: 'image/jpeg' }), view.getUint16(2, true));
  }

  /** Sends what is held and the degrees to the right and up. @param {number} held @param {number} right @param {number} up */
  move(held, right, up) {
    if (!this.isOpen) return;
    const view = new DataView(new ArrayBuffer(INPUT_BYTES));
    view.setUint8(0, 1);
    view.setUint32(4, held >>> 0, true);
    view.setUint32(8, ++this.seq, true);
    view.setUint32(12, this.shown, true);
    view.setFloat32(16, right, true);
    view.setFloat32(20, up, true);
    this.sent.set(this.seq, performance.now());
    this.socket.send(view.buffer);
  }

  /** Sends a message; false without a connection. @param {string} kind @param {any} [fields] */
  send(kind, fields = {}) {
    if (!this.isOpen) return false;
    this.socket.send(JSON.stringify({ kind, ...fields }));
    return true;
  }
}
