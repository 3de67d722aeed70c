// The shop's tokens: list, issue, revoke.

import { Problem, told } from "./api.js";
import { confirmed, openDialog, say } from "./dialogs.js";
import { fill, h, icon } from "./dom.js";
import { backwards } from "./listing.js";
import { recall, remember } from "./storage.js";
import { when } from "./words.js";

const DRAFT = "draft.token";
/// Tokens that are shown at first, and more of at a time.
const TOKENS = 100;
const ROLES = [
  ["SHOPPER", "SHOPPER – visible products"],
  ["VIEWER", "VIEWER – hidden ones too"],
  ["EDITOR", "EDITOR – writes products"],
  ["ADMIN", "ADMIN – tokens, too"],
];
const LIVES = [["", "ever, unless revoked"], ["3600", "1 hour"], ["86400", "1 day"], ["2592000", "30 days"], ["31536000", "1 year"]];

export class TokensView {
  constructor({ api }) {
    this.api = api;
    const draft = recall(DRAFT) ?? { name: "", role: "SHOPPER", life: "2592000" };
    this.name = h("input", { class: "field-input", id: "token-name", type: "text", maxlength: "200", placeholder: "web shop", autocomplete: "off", value: draft.name });
    this.role = h("select", { class: "field-input", id: "token-role", value: draft.role }, ROLES.map(([value, text]) => h("option", { value }, text)));
    this.life = h("select", { class: "field-input", id: "token-life", value: draft.life }, LIVES.map(([value, text]) => h("option", { value }, text)));
    this.notice = h("div", {});
    this.rows = h("tbody", {});
    this.pages = 1;
    this.older = h("button", { class: "button", type: "button", hidden: true, on: { click: () => this.#load(this.pages + 1) } }, "Show older tokens");
    const form = h("form", {
      class: "panel stack",
      on: {
        input: () => remember(DRAFT, { name: this.name.value, role: this.role.value, life: this.life.value }),
        submit: (event) => {
          event.preventDefault();
          this.#issue();
        },
      },
    },
    h("h2", { class: "section-title" }, "Issue a token"),
    h("div", { class: "fields-row" },
      field("Name", this.name), field("Role", this.role), field("Good for", this.life)),
    h("div", { class: "actions" }, h("button", { class: "button button-main", type: "submit" }, icon("key"), "Issue")));
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Tokens")),
      form, this.notice,
      h("div", { class: "scroll" }, h("table", { class: "plain tokens" },
        h("thead", {}, h("tr", {}, ["Number", "Name", "Role", "Issued", "Good until", "State", ""].map((text) => text ? h("th", { scope: "col" }, text) : h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Actions"))))),
        this.rows)),
      h("div", { class: "actions" }, this.older));
  }

  enter() {
    this.#load();
  }

  /// Loads the newest tokens; the API lists them by ascending number.
  async #load(pages = this.pages) {
    try {
      const { headers } = await this.api.call("GET", "/tokens?limit=1");
      const total = Number(headers.get("x-total-count"));
      const tokens = [];
      let left = total;
      for (let page = 0; page < pages && left > 0; page += 1) {
        const { offset, limit } = backwards(total, page, TOKENS);
        tokens.push(...(await this.api.get(`/tokens?limit=${limit}&offset=${offset}`)).reverse());
        left = offset;
      }
      this.pages = pages;
      fill(this.rows, tokens.map((token) => this.#row(token)));
      this.older.hidden = left === 0;
      fill(this.notice);
    } catch (error) {
      fill(this.notice, h("p", { class: "notice notice-bad", role: "alert" }, told(error)));
    }
  }

  #row(token) {
    const over = token.revoked_at ? "Revoked" : token.expires_at && new Date(token.expires_at) <= new Date() ? "Expired" : undefined;
    const revoke = h("button", { class: "button button-small button-bad", type: "button", "aria-label": `Revoke token ${token.id}`, on: { click: () => this.#revoke(token) } }, "Revoke");
    return h("tr", { class: over ? "is-hidden" : "", "data-token": String(token.id) },
      h("td", { class: "tabular" }, String(token.id)), h("td", {}, token.name || "–"), h("td", {}, token.role), h("td", {}, when(token.created_at)),
      h("td", {}, token.expires_at ? when(token.expires_at) : "no end"),
      h("td", {}, over ? h("span", { class: "badge badge-hidden" }, over) : h("span", { class: "badge" }, "Good")),
      h("td", {}, over ? undefined : revoke));
  }

  async #issue() {
    const body = { role: this.role.value };
    if (this.name.value.trim() !== "") body.name = this.name.value.trim();
    if (this.life.value !== "") body.expires_in_seconds = Number(this.life.value);
    try {
      const issued = await this.api.post("/tokens", body);
      remember(DRAFT, undefined);
      this.name.value = "";
      showOnce(issued);
      await this.#load();
    } catch (error) {
      const message = error instanceof Problem ? error.errors[0]?.message : undefined;
      say(message ? `The token was refused: ${message}` : told(error), "bad");
    }
  }

  async #revoke(token) {
    const sure = await confirmed({ title: `Revoke token ${token.id}?`, text: `“${token.name || token.role}” stops working at once, for good.`, action: "Revoke" });
    if (!sure) return;
    try {
      await this.api.call("DELETE", `/tokens/${token.id}`);
      say("Revoked.");
    } catch (error) {
      say(told(error), "bad");
    }
    await this.#load();
  }
}

function showOnce(issued) {
  const text = h("input", { class: "field-input secret", id: "issued", type: "text", readOnly: true, value: issued.token, on: { focus: () => text.select() } });
  const copy = h("button", {
    class: "button", type: "button",
    on: {
      click: async () => {
        text.select();
        // Only secure contexts may write the clipboard; elsewhere the text is selected for copying.
        await navigator.clipboard?.writeText(issued.token);
        if (navigator.clipboard) fill(copy, icon("done"), "Copied");
      },
    },
  }, icon("copy"), "Copy");
  const done = h("button", { class: "button button-main", type: "button", on: { click: () => dialog.close() } }, "I have kept it");
  const dialog = openDialog({
    title: `Token ${issued.id}`,
    content: h("div", { class: "stack" },
      h("p", { class: "soft" }, "This is the only time it is shown: the service keeps a hash of it."),
      h("div", { class: "field" }, h("label", { class: "field-label", for: "issued" }, `${issued.role} of shop ${issued.shop_id}`), text),
      h("div", { class: "actions" }, copy, done)),
  });
}

function field(label, input) {
  return h("div", { class: "field" }, h("label", { class: "field-label", for: input.id }, label), input);
}
