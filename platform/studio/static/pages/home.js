// The first page after the entrance.
import { byId } from '../dom.js';
import { begin } from '../page.js';
import { word } from '../words.js';

const person = await begin();
byId('text').textContent = word('home.roles', { roles: person.roles.join(', ') });
