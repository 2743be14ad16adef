// A seat in a live session: pictures, dialogue, keys, and what the studio tells it, until its end.
import { ask, close as closeDialog } from './dialogs.js';
import { byId, fill, make, newId, scrollDown } from './dom.js';
import { typed } from './keys.js';
import { LiveSocket } from './live_socket.js';
import { Overlay } from './overlay.js';
import { say, sayAbout } from './page.js';
import { ended, leadsBack, offerMore, stage, wayBack } from './play_ends.js';
import { hasKeys, keyName, SeatKeys } from './seat_keys.js';
import { showPad, showToggles } from './touch_pad.js';
import { Unconfirmed } from './unconfirmed.js';
import { word } from './words.js';

const INPUT_MS = 1000 / 60;
const SIGN_OF_LIFE_MS = 500;
const RECONNECT_MS = 1000;
const SILENT_MS = 5000; // without a further picture while the world plays, or until a connection is open: it is given up
/** Codes of a connection that broke: without a reason, without an answer for a while, by a restart of the studio. */
const LOST = [1006, 1011, 1012];
const GONE = 4404; // the session has ended for this person
const MOST_WORDS = 15;
const ANSWER_SECONDS = 15; // to say that one is there
const REASONS = ['wrong_thing', 'stuck', 'wrong_place', 'wrong_words', 'no_idea', 'other']; // why a co-pilot took over

const shown = { drawn: 0, shown: 0, rtt: 0 };
/** @type {any} */ (window).studio = shown;
const overlay = new Overlay(byId('overlay'));
new ResizeObserver(() => scrollDown(byId('dialogue'))).observe(byId('dialogue')); // as when a phone is turned

/**
 * Takes a seat.
 * @param {string} session @param {string} seat
 * @param {() => Promise<any>} about asks about the study until there is an answer
 * @param {boolean} [practicing]
 */
export function play(session, seat, about, practicing = false) {
  stage('game');
  say(byId('message'), '');
  byId('there').hidden = true; // asked in the practice room
  for (const name of ['words', 'left', 'rate']) byId(name).textContent = ''; // of the practice room, as what follows
  byId('say').value = '';
  fill(byId('dialogue'));
  byId('wanted').textContent = word('play.nothing_wanted');
  byId('leave').textContent = word(practicing ? 'play.end_practice' : 'play.end');
  byId('practicing').hidden = !practicing;
  byId('left').hidden = byId('rate').hidden = practicing; // room for what is said of the lobby
  overlay.show(() => word('play.preparing')); // until the studio says more
  document.title = word('play.title');
  byId('role').textContent = word(`play.role_${seat}`);
  byId('cardBox').hidden = seat !== 'setter';
  byId('wantedBox').hidden = practicing || seat === 'setter';
  byId('steersBox').hidden = seat !== 'copilot';
  [byId('steers').textContent, byId('takeText').textContent] = [word('play.steers_agent'), word('play.take')];
  const canvas = byId('view');
  const paint = canvas.getContext('2d');
  paint.clearRect(0, 0, canvas.width, canvas.height);
  /** @type {SeatKeys | null} */ let keys = null;
  /** @type {any} */ let hello = null;
  let playing = false, over = false, leaving = false, slow = false, steers = seat !== 'copilot';
  let pictured = 0; // when the last picture came over this connection; 0: none so far, as while the world is compiled
  let hasSaid = false; // whether anything has been said on this page: then one knows how
  let judged = false; // whether a verdict is on its way: the next one is about the next card
  /** @type {LiveSocket} */ let socket;
  const page = newId();
  let connections = 0; // of this page so far
  const unconfirmed = new Unconfirmed(byId('unconfirmed'), (message) => socket.send('say', message), () => playing && socket.drop());

  /** @param {number} frame @param {Blob} jpeg @param {number} toggles bit i: the i-th toggle is on */
  async function picture(frame, jpeg, toggles) {
    pictured = performance.now();
    const image = await createImageBitmap(jpeg);
    if (over || frame < shown.shown) return image.close();
    if (canvas.width !== image.width || canvas.height !== image.height) {
      canvas.width = image.width;
      canvas.height = image.height;
      byId('game').style.setProperty('--aspect', `${image.width} / ${image.height}`);
    }
    paint.drawImage(image, 0, 0);
    image.close();
    socket.shown = shown.shown = frame;
    showToggles(byId('pad'), toggles);
    shown.drawn += 1;
    shown.rtt = socket.rtt;
    if (hello) time(frame);
    return send(true);
  }

  /** @param {number} frame */
  function time(frame) {
    const left = Math.max(0, Math.round((hello.frames - frame) / hello.rate));
    byId('left').textContent = word('play.left', { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` });
    byId('rate').textContent = slow ? word('play.slow') : `${Math.round(socket.rtt)} ms, ${canvas.width}x${canvas.height}`;
  }

  /** @param {any} message */
  function heard(message) {
    const last = byId('dialogue').lastElementChild;
    if (message.piece && last?.classList.contains('piece')) {
      last.append(message.text);
      return scrollDown(byId('dialogue'));
    }
    const mine = message.role === (seat === 'copilot' ? 'solver' : seat);
    const name = word(seat === 'copilot' || message.role === 'world' ? `role.${message.role}` : mine ? 'play.you' : 'play.other');
    byId('dialogue').append(make('li', { class: message.piece ? 'piece' : '' }, make('b', { text: `${name}:` }), message.text));
    scrollDown(byId('dialogue'));
    if (message.role === 'world') byId('wantedBox').hidden = true; // its own words are the task
    if (message.role === 'setter') {
      byId('wanted').textContent = message.text;
      byId('wantedBox').hidden = practicing || seat === 'setter';
    }
    return undefined;
  }

  const handlers = {
    /** @param {any} message */
    hello(message) {
      hello = message;
      pictured = 0;
      socket.shown = shown.shown = 0;
      if (!keys) {
        keys = new SeatKeys(canvas, message.controls, () => send(true));
        showPad(byId('pad'), keys);
      }
      active = performance.now();
      handlers.dialogue(message);
      fill(byId('keys'), ...message.controls.map((/** @type {any} */ control) => make('div', {},
        make('dt', {}, ...readable(control).flatMap((key) => [make('kbd', { text: key }), ' '])),
        make('dd', { text: control.label }),
      )));
      byId('speak').hidden = !message.words;
      byId('keysBox').hidden = !message.controls.length;
      canvas.hidden = !message.pictures;
      canvas.closest('.stage').classList.toggle('wordy', !message.pictures);
      byId('words').hidden = Boolean(message.symbols);
      byId('say').maxLength = message.limits.letters;
      if (message.symbols) asTyped();
      else sayHint();
      if (!message.pictures) byId('say').focus();
      if (!message.pictures && !hasSaid) sayAbout('world', word('play.no_pictures'));
      unconfirmed.sendAgain();
    },
    /** @param {any} message */
    accepted({ id }) { unconfirmed.remove(id); },
    /** @param {any} message */
    card(message) {
      byId('card').textContent = message.text;
      judged = false;
    },
    said: heard,
    /** All of it again. @param {any} message */
    dialogue({ dialogue }) {
      fill(byId('dialogue'));
      dialogue.forEach(heard);
    },
    /** @param {any} message */
    steers(message) {
      if (message.person !== steers) byId('why').hidden = message.person; // else the connection is new
      steers = message.person;
      byId('steers').textContent = word(steers ? 'play.steers_person' : 'play.steers_agent');
      byId('takeText').textContent = word(steers ? 'play.give' : 'play.take');
      canvas.closest('.stage').classList.toggle('agent', !steers);
      byId('say').disabled = !steers;
      if (!hello.symbols) sayHint();
      byId('pad').hidden = !byId('pad').children.length || (!steers && hello.take_over_by === 'key'); // it would do nothing
    },
    /** @param {any} message */
    state(message) {
      playing = message.state === 'playing';
      pictured &&= performance.now();
      const { state, why, seconds: left } = message;
      const key = state === 'paused' && left === undefined ? 'stopped' : state;
      overlay.show((seconds) => (playing ? '' : word(`play.state_${key}`, { why, seconds })), left);
      if (playing && document.activeElement === document.body) canvas.focus();
    },
    /** @param {any} message */
    rate({ rung }) { slow = rung > 0; },
    judge() {
      playing = judged = false;
      closeDialog(); // the episode is over already
      overlay.show(() => word(hasKeys() ? 'play.judge_open' : 'play.judge_open_touch'));
      if (!hello.pictures) byId('done').focus();
      else if (document.activeElement !== byId('say')) canvas.focus(); // what is being typed must not judge
    },
    /** @param {any} message */
    notice({ text, unsaid, id }) {
      unconfirmed.remove(id);
      putBack(text, unsaid);
    },
    /** @param {any} message */
    end(message) {
      over = true;
      closeDialog(); // else nothing behind it could take the focus
      document.exitPointerLock?.();
      say(byId('message'), '');
      returnUnconfirmed(practicing ? word('play.practice_over') : '');
      if (practicing) {
        close();
        stage('lobby');
        return;
      }
      ended({ session, ...message, why: leaving && message.why === 'left' ? 'self' : message.why });
      about().then(({ standing, last }) => {
        offerMore(standing);
        if (standing.outcome === 'complete') wayBack(standing);
        else if (last?.session === session && leadsBack(last)) wayBack(last); // this page may have missed it
        else if (standing.outcome) wayBack(standing);
      }).catch((error) => {
        if (error.status !== 401) throw error;
        byId('again').hidden = true; // what is kept of the person was deleted: the page goes on to say so
      });
    },
  };

  /** Shows a notice, and puts words that were not said back into the box, to be said again.
   * @param {string} text @param {string} [unsaid] */
  function putBack(text, unsaid = '') {
    const isBoxTaken = over || byId('say').value; // by the next words, which stay, or hidden
    sayAbout('notice', unsaid && isBoxTaken ? `${text} "${unsaid}"` : text);
    byId('say').value ||= unsaid;
  }

  /** Puts back what the studio has not confirmed, after a notice: the seat is closed. @param {string} text */
  function returnUnconfirmed(text) {
    const unsaid = unconfirmed.clear().join(' ');
    putBack(unsaid ? `${text} ${word('play.unconfirmed')}`.trim() : text, unsaid);
  }

  function open() {
    if (over) return; // closed while it waited to connect again
    socket = new LiveSocket(session, seat, page, ++connections, {
      picture,
      message: (message) => /** @type {any} */ (handlers)[message.kind]?.(message),
      closed(reason, code) {
        if (over) return;
        if (code === GONE) {
          handlers.end({ why: 'gone' });
          return;
        }
        keys?.down.clear();
        playing = false;
        byId('there').hidden = true;
        if (!LOST.includes(code)) {
          over = true;
          closeDialog();
          overlay.show(() => '');
          offer(word('play.closed', { reason }), word('play.here_again'), () => location.reload());
          if (unconfirmed.all.size) returnUnconfirmed('');
          return;
        }
        overlay.show(() => [word('play.lost'), hello && word('play.lost_ends', { seconds: hello.leave })].filter(Boolean).join(' '));
        setTimeout(open, RECONNECT_MS);
      },
    });
    socket.shown = shown.shown;
    const opening = socket;
    setTimeout(() => !opening.isOpen && opening.drop(), SILENT_MS);
  }

  /** Shows a text and a button over the picture. @param {string} text @param {string} answer @param {() => void} act what the button does */
  function offer(text, answer, act) {
    byId('there').hidden = false;
    [byId('thereText').textContent, byId('here').textContent] = [text, answer];
    byId('here').onclick = act;
    document.exitPointerLock?.();
  }

  /** Says in the box of what is said how to say something. */
  function sayHint() {
    hint(word(!steers ? 'play.say_after_taking' : hasKeys() ? 'play.say_hint' : 'play.say_hint_touch'));
  }

  /** What takes the keys of the world: the picture, or the box to type in. */
  const place = () => byId(hello?.pictures ? 'view' : 'say');

  let active = performance.now();
  /** Seconds of rest beyond those after which the page asks whether someone is there. */
  const rest = () => (performance.now() - active) / 1000 - (hello?.idle ?? Infinity);
  /** Asks after a while of rest whether someone is there; without an answer the page falls silent, and the world pauses. */
  function isThere() {
    const idle = rest();
    if (byId('there').hidden === (playing && idle > 0)) {
      byId('there').hidden = !byId('there').hidden;
      if (!byId('there').hidden) offer(word(hasKeys() ? 'play.there' : 'play.there_touch'), word('play.here'), () => place().focus());
    }
    return idle < ANSWER_SECONDS;
  }
  const moved = () => { active = performance.now(); };
  document.addEventListener('keydown', (event) => {
    const isAsked = !byId('there').hidden || rest() >= ANSWER_SECONDS;
    const isTyped = event.key.length === 1 && /** @type {HTMLElement} */ (event.target).matches('input');
    if (over || !isAsked || isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
    moved();
    event.preventDefault();
    event.stopImmediatePropagation(); // the key answers, and neither judges nor moves anything
  }, { capture: true });
  document.addEventListener('keydown', (event) => {
    if (over || !byId('dialog').open) return;
    moved();
    event.stopImmediatePropagation(); // the key is one of the dialog, and none of the world
    if (event.repeat) event.preventDefault(); // held since before the dialog opened, it presses no button there
  }, { capture: true });
  for (const event of ['keydown', 'pointermove', 'pointerdown']) document.addEventListener(event, moved);

  let last = performance.now(), held = -1;
  /** Sends held keys and the pointer's way, at most 60 times a second. @param {boolean} [now] */
  function send(now = false) {
    if (over || !keys || !isThere()) return;
    const at = performance.now();
    if (playing && hello.pictures && pictured && at - pictured > SILENT_MS) return socket.drop();
    if (at - last < INPUT_MS && keys.held() === held) return;
    const [right, up] = playing ? keys.moved(Math.min(0.1, (at - last) / 1000)) : [0, 0];
    if (!now && !right && !up && keys.held() === held && at - last < SIGN_OF_LIFE_MS) return;
    if (!steers && hello.take_over_by === 'moving' && keys.held() & ~held) take();
    held = keys.held();
    last = at;
    socket.move(held, right, up);
  }

  byId('speak').onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!hello) return; // the world is not there yet
    const typed = byId('say').value.replace(/[\p{Cc}\p{Cs}]/gu, ' '); // pasted control characters would close the seat
    const text = hello.symbols ? typed : typed.trim();
    if ((text || hello.symbols) && !unconfirmed.say(text)) return; // the text stays until there is a connection
    hasSaid = true;
    sayAbout('world', '');
    byId('say').value = '';
    byId('words').textContent = '';
    if (hello.pictures) canvas.focus();
  };
  byId('say').oninput = () => {
    const count = byId('say').value.trim().split(/\s+/).filter(Boolean).length;
    byId('words').textContent = word(count > MOST_WORDS ? 'play.words_over' : 'play.words_left', { count: Math.abs(MOST_WORDS - count) });
  };
  byId('say').onfocus = () => { document.exitPointerLock?.(); keys?.release(); };
  /** Takes over, or gives back. */
  function take() { socket.send(steers ? 'give' : 'take'); }

  byId('take').onclick = () => {
    take();
    canvas.focus();
  };
  fill(byId('whyKeys'), ...REASONS.map((reason, i) => make('button', {
    class: 'small', data: `why-${reason}`, onclick: () => explain(reason),
  }, make('kbd', { text: String(i + 1) }), make('span', { text: word(`why.${reason}`) }))));

  /** Says why one has taken over. @param {string} reason */
  function explain(reason) {
    const sent = socket.send('reason', { reason });
    byId('why').hidden = sent;
    sayAbout('notice', word(sent ? 'play.why_sent' : 'play.why_unsent'));
    canvas.focus();
  }
  document.addEventListener('keydown', (event) => {
    const reason = REASONS[Number(/^Digit([1-6])$/.exec(event.code)?.[1]) - 1];
    if (over || byId('why').hidden || !reason || /** @type {HTMLElement} */ (event.target).matches('input')) return;
    event.stopImmediatePropagation(); // the key is no control of the world now
    explain(reason);
  }, { capture: true });
  for (const verdict of ['done', 'failed']) {
    byId(verdict).onclick = (/** @type {MouseEvent} */ event) => {
      if (!judged && event.detail < 2) judged = socket.send('verdict', { verdict }); // detail 2: of a double click
      place().focus(); // where Enter does not judge the next card
    };
  }
  /** Ends the episode, or the part of this person in it. */
  function leave() {
    leaving = socket.send('leave');
    if (!leaving) sayAbout('notice', word('play.end_unsent'));
  }
  byId('leave').onclick = (/** @type {MouseEvent} */ event) => {
    if (event.detail > 1) return; // of a double click
    if (practicing) {
      leave();
      return;
    }
    document.exitPointerLock?.();
    keys?.release();
    if (event.detail) place().focus({ preventScroll: true }); // where the focus returns to, so that Enter does not ask again
    ask('play.end_title', word('play.end_text'), 'play.end', leave);
  };
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (over || event.repeat || event.ctrlKey || event.metaKey || event.altKey || target.matches('input')) return;
    if (event.key === 'Enter' && !target.matches('button, a')) { event.preventDefault(); byId('say').focus(); }
    const key = typed(event);
    if (seat === 'setter' && key === 'y') byId('done').click();
    if (seat === 'setter' && key === 'n') byId('failed').click();
    if (seat === 'copilot' && key === 't') byId('take').click();
  });
  addEventListener('beforeunload', (event) => { // words would be lost
    const isTyped = !byId('game').hidden && byId('say').value.trim();
    if (unconfirmed.all.size || isTyped) event.preventDefault();
  });
  const beat = setInterval(() => send(), INPUT_MS);
  open();

  function close() {
    over = true;
    clearInterval(beat);
    keys?.stop();
    unconfirmed.clear();
    socket.socket.close();
  }
  return { close };
}

/** Says in the box to type in, and to screen readers, what it is for. @param {string} text */
function hint(text) {
  byId('say').placeholder = byId('say').ariaLabel = text;
}

/** Leaves what is typed as it is, because each letter counts. */
function asTyped() {
  hint(word(hasKeys() ? 'play.type_hint' : 'play.type_hint_touch'));
  byId('say').spellcheck = false;
  for (const name of ['autocapitalize', 'autocorrect']) byId('say').setAttribute(name, 'off'); // by the keyboard of a phone
}

/** Keys of a control as people read them. @param {any} control */
function readable(control) {
  const names = control.keys.map(keyName);
  return control.mode === 'axis' ? [...names, word('key.pointer')] : names;
}
