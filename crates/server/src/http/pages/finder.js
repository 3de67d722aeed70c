// Search as you type: debounces, cancels stale requests, and shows only the latest response.

import { wasAborted } from "./api.js";

const PAUSE_MS = 120;

export class Finder {
  #latest = 0;
  #timer;
  #underway;

  /// `find(request, signal)` sends a request; `show(request, answer)` or `fail(request, error)` is
  /// called for the latest request only.
  constructor({ find, show, fail, pause = PAUSE_MS }) {
    Object.assign(this, { find, show, fail, pause });
  }

  /// Sends the request after a pause in typing.
  askSoon(request) {
    this.cancel();
    this.#timer = setTimeout(() => this.ask(request), this.pause);
  }

  /// Sends the request now.
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

  /// Cancels the current request.
  cancel() {
    this.#latest += 1;
    clearTimeout(this.#timer);
    this.#underway?.abort();
  }
}
