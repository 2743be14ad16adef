// Everyone sees, downloads and deletes what is theirs.
import { get, post } from '../api.js';
import { byId, fill, make } from '../dom.js';
import { markingTabs, removeRequests } from '../outbox.js';
import { begin, say } from '../page.js';
import { onSubmit, sayWaiting } from '../waiting.js';
import { word } from '../words.js';

const person = await begin();

/** Removes what this browser keeps of the person, also of marking pages that are open in other tabs. */
async function removeFromBrowser() {
  sessionStorage.clear();
  markingTabs(person.person).postMessage({ isDeleted: true });
  try {
    await removeRequests(person.person);
  } catch (error) {
    say(byId('goneMessage'), word('data.browser_keeps', { problem: /** @type {any} */ (error).message }), 'bad');
  }
}

const kept = await sayWaiting(() => get('/api/data'));
byId('summary').textContent = word('data.summary', kept);
fill(byId('consents'), ...kept.consents.map((/** @type {any} */ each) => make('li', {
  text: word('data.consent', { ...each, when: new Date(each.at * 1000).toLocaleString() }),
})));
byId('nameLabel').textContent = word('data.type', { person: person.person });
onSubmit(byId('form'), async () => {
  try {
    const answer = await post('/api/data/delete', { person: byId('name').value.trim() });
    byId('kept').hidden = byId('deletion').hidden = true;
    for (const part of document.querySelectorAll('header nav, header .who, header button')) part.remove(); // logged out
    byId('gone').hidden = false;
    byId('gone').focus();
    byId('goneText').textContent = word(answer.kept_in.length ? 'data.gone_but' : 'data.gone');
    const codes = answer.ways_back.map((/** @type {any} */ each) => each.code).filter(Boolean).join(', ');
    byId('goneCodes').textContent = codes && word('data.codes', { codes });
    fill(byId('goneBack'), ...answer.ways_back.filter((/** @type {any} */ each) => each.address).map((/** @type {any} */ each) => (
      make('a', { class: 'button', href: each.address, text: word('done.back') }))));
    await removeFromBrowser();
  } catch (error) {
    say(byId('message'), /** @type {any} */ (error).message, 'bad');
  }
});
