// A person's own settings, saved one request at a time, so that a slow one can't replace a later one.
import { post } from './api.js';
import { guarded, sayAbout } from './page.js';
import { ANSWER_MS } from './waiting.js';

export class OwnSettings {
  constructor() {
    /** Changes that the studio has not saved. @type {Object<string, any>} */ this.unsaved = {};
    this.saving = Promise.resolve();
  }

  /** Saves changed settings, with those that were not saved before. @param {Object<string, any>} changed */
  change(changed) {
    this.unsaved = { ...this.unsaved, ...changed };
    this.saving = this.saving.then(() => guarded(() => this.save(), 'settings'));
  }

  get areSaved() {
    return !Object.keys(this.unsaved).length;
  }

  async save() {
    const sent = this.unsaved;
    if (this.areSaved) return; // the request before has saved them
    await post('/api/me/settings', sent, ANSWER_MS);
    if (this.unsaved === sent) this.unsaved = {};
    sayAbout('settings', '');
  }
}
