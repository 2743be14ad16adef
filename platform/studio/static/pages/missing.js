// What a browser shows at an address that no page has.
import { begin } from '../page.js';

await begin({ login: false });
