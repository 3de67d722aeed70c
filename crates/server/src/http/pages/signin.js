// The token of the page: issued by the demo or entered by the user. It is kept in this tab alone and
// never becomes part of a URL.

import { told } from "./api.js";
import { h, byId, fill } from "./dom.js";
import { recall, remember } from "./storage.js";
import { text } from "./texts.js";

const TOKEN = "token";

/// A session with a token that the user enters.
export class AskedSession {
  #pending;

  /// `why` says what the token is for, `command` how to create one.
  constructor({ why, command, onChange }) {
    this.why = why;
    this.command = command;
    this.onChange = onChange ?? (() => {});
  }

  async token() {
    return recall(TOKEN) ?? this.#ask();
  }

  /// Replaces a token that was rejected. Concurrent requests share one dialog.
  async renew(problem, used) {
    const current = recall(TOKEN);
    if (current !== undefined && current !== used) return current;
    remember(TOKEN, undefined);
    return this.#ask(problem);
  }

  /// Asks for another token although this one is valid.
  async change(problem) {
    remember(TOKEN, undefined);
    return this.#ask(problem);
  }

  get isKnown() {
    return recall(TOKEN) !== undefined;
  }

  forget() {
    remember(TOKEN, undefined);
  }

  #ask(problem) {
    this.#pending ??= askForToken(this.why, this.command, problem).then((token) => {
      remember(TOKEN, token);
      this.#pending = undefined;
      this.onChange();
      return token;
    });
    return this.#pending;
  }
}

const MESSAGES = { expired_token: "token.expired", invalid_token: "token.invalid", insufficient_role: "token.role" };

function askForToken(why, command, problem) {
  return new Promise((resolve) => {
    const input = h("input", {
      id: "token", class: "field-input", type: "password", name: "token", autocomplete: "off", spellcheck: "false",
      autocapitalize: "none", required: true, autofocus: true, placeholder: "shk_…", "aria-describedby": "token-hint",
    });
    const said = problem && (problem.code in MESSAGES ? text(MESSAGES[problem.code]) : told(problem));
    const form = h("form", {
      class: "stack",
      on: {
        submit: (event) => {
          event.preventDefault();
          if (input.value.trim() !== "") dialog.close();
        },
      },
    },
    h("h2", { class: "dialog-title", id: "signin-title" }, text(problem ? "token.title-again" : "token.title")),
    said ? h("p", { class: "notice notice-warn", role: "alert" }, said) : h("p", { class: "soft" }, why),
    h("label", { class: "field-label", for: "token" }, text("token.label")),
    input,
    h("div", { class: "hint stack-close", id: "token-hint" },
      h("p", {}, text("token.hint")),
      h("p", {}, h("code", {}, command))),
    h("div", { class: "actions" }, h("button", { class: "button button-main", type: "submit" }, text("token.continue"))));
    const dialog = h("dialog", {
      class: "dialog", "aria-labelledby": "signin-title",
      // The page does not work without a token, so the dialog cannot be cancelled.
      on: {
        cancel: (event) => event.preventDefault(),
        close: () => {
          dialog.remove();
          // Works around Chromium: the field that had the focus before may ignore the keyboard.
          const focused = document.activeElement;
          focused?.blur();
          focused?.focus();
          resolve(input.value.trim());
        },
      },
    }, form);
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}

/// A session with the demo's public token.
export class DemoSession {
  constructor(token) {
    this.given = token;
  }

  async token() {
    return this.given;
  }

  async renew(problem) {
    const again = await demoToken();
    if (again === undefined || again === this.given) throw problem;
    this.given = again;
    return again;
  }
}

/// The demo's token; `undefined` where the server is not a demo.
export async function demoToken() {
  const response = await fetch("/demo/session", { cache: "no-store" }).catch(() => undefined);
  if (!response?.ok) return undefined;
  return (await response.json()).token;
}

/// Adds the sign-out button to the page.
export function addSignOut(session) {
  fill(byId("bar-end"), h("button", {
    class: "button button-quiet", type: "button", "data-text": "token.sign-out",
    on: {
      click: () => {
        session.forget();
        location.reload();
      },
    },
  }, text("token.sign-out")));
}
