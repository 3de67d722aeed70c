// Which answer is shown while someone types? Only ever that of the latest question: a short pause
// is waited for, what is stale is cancelled, and a late answer is thrown away.

import { wasAborted } from "./api.js";

const PAUSE_MS = 120;

export class Finder {
  #latest = 0;
  #timer;
  #underway;

  /// `find(request, signal)` asks the service; `show(request, answer)` and `fail(request, error)`
  /// are told what came of the latest request, and of no other.
  constructor({ find, show, fail, pause = PAUSE_MS }) {
    Object.assign(this, { find, show, fail, pause });
  }

  /// Asks after a pause in the typing.
  askSoon(request) {
    this.cancel();
    this.#timer = setTimeout(() => this.ask(request), this.pause);
  }

  /// Asks now.
  async ask(request) {
    this.cancel();
    const mine = this.#latest;
    const underway = new AbortController();
    this.#underway = underway;
    try {
      const answer = await this.find(request, underway.signal);
      if (mine === this.#latest) this.show(request, answer);
    } catch (error) {
      if (mine === this.#latest && !wasAborted(error)) this.fail(request, error);
    }
  }

  /// Whatever was asked is no longer wanted.
  cancel() {
    this.#latest += 1;
    clearTimeout(this.#timer);
    this.#underway?.abort();
  }
}
