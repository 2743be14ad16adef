// The entrance: takes the code out of the address bar once it holds it; only the button uses it up.
import { post } from '../api.js';
import { byId, newId } from '../dom.js';
import { begin, say } from '../page.js';
import { onSubmit } from '../waiting.js';
import { word } from '../words.js';

const NARROW = 700;
const ATTEMPT = 'interplay-entrance';
const PLATFORM_IDS = ['PROLIFIC_PID', 'workerId'];

const inPath = location.pathname.split('/')[2] ?? '';
const code = location.hash.slice(1) || inPath || (history.state?.code ?? '');
const asked = new URLSearchParams(location.search);
const named = PLATFORM_IDS.filter((id) => asked.get(id)).map((id) => [id, asked.get(id)]);
const platform = named.length ? Object.fromEntries(named) : history.state?.platform ?? {};

const person = await begin({ login: false });
history.replaceState({ code, platform }, '', '/i'); // not before: a page that could not begin is loaded again
byId('text').textContent = word(code ? 'enter.invited' : 'enter.no_code');
byId('typed').hidden = Boolean(code);
if (innerWidth < NARROW && matchMedia('(any-pointer: fine)').matches) say(byId('device'), word('enter.narrow', { width: NARROW }));
if (person) {
  byId('known').hidden = false;
  byId('knownText').textContent = word('enter.known', { person: person.person });
}

onSubmit(byId('form'), async () => {
  const typed = byId('code').value.trim();
  try {
    const attempt = localStorage.getItem(ATTEMPT) ?? newId(); // kept until there is an answer, which may be lost
    localStorage.setItem(ATTEMPT, attempt);
    const { page } = await post('/api/enter', { code: typed.split(/[#/]/).pop() || code, platform, attempt });
    localStorage.removeItem(ATTEMPT);
    location.assign(page);
    await new Promise((left) => addEventListener('pagehide', left, { once: true })); // until then the button has no effect
  } catch (error) {
    say(byId('message'), error.message, 'bad');
    if (error.status === 404) byId('typed').hidden = false; // another invitation may be at hand
  }
});
