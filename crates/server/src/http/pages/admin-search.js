// The search lab: a search with the parts of each product's score drawn as bars.

import { Problem, told, wasAborted } from "./api.js";
import { chipsOf } from "./chips.js";
import { fill, h } from "./dom.js";
import { Finder } from "./finder.js";
import { picture } from "./pictures.js";
import { recall, remember } from "./storage.js";
import { counted, duration } from "./words.js";

const STATE = "search";
const FOUND = 20;
const SWITCHES = [["price", "Prices"], ["exclusions", "Exclusions"], ["sort", "Order"], ["corrections", "Spelling"]];

export class SearchView {
  constructor({ api }) {
    this.api = api;
    const state = recall(STATE) ?? { query: "", hidden: false, off: [] };
    this.box = h("input", { class: "field-input", id: "lab-query", type: "search", maxlength: "1000", autocomplete: "off", spellcheck: "false", placeholder: "red shoes under $50 without leather", value: state.query });
    this.hidden = h("input", { type: "checkbox", checked: state.hidden });
    this.switches = SWITCHES.map(([name, label]) => [name, label, h("input", { type: "checkbox", checked: !state.off.includes(name) })]);
    this.summary = h("p", { class: "soft", role: "status" });
    this.readings = h("ul", { class: "readings" });
    this.results = h("ol", { class: "explained" });
    this.finder = new Finder({
      find: (request, signal) => this.#find(request, signal),
      show: (_, answer) => this.#show(answer),
      fail: (_, error) => this.#fail(error),
    });
    const form = h("form", {
      class: "panel stack", role: "search",
      on: {
        input: () => this.#ask(true),
        submit: (event) => {
          event.preventDefault();
          this.#ask(false);
        },
      },
    },
    h("div", { class: "field" }, h("label", { class: "field-label", for: "lab-query" }, "Query"), this.box),
    h("fieldset", { class: "switches" }, h("legend", { class: "visually-hidden" }, "What is read in the query"),
      this.switches.map(([, label, input]) => h("label", { class: "check" }, input, label)),
      h("label", { class: "check" }, this.hidden, "Hidden products too")));
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Search lab"), h("p", { class: "soft" }, "What was understood, and what each product’s score is made of")),
      form, h("div", { class: "stack" }, this.summary, this.readings), this.results);
  }

  enter() {
    this.#ask(false);
  }

  leave() {
    this.finder.cancel();
  }

  #ask(soon) {
    const off = this.switches.filter(([, , input]) => !input.checked).map(([name]) => name);
    remember(STATE, { query: this.box.value, hidden: this.hidden.checked, off });
    const query = this.box.value.trim();
    if (query === "") {
      this.finder.cancel();
      fill(this.summary, "Type a query to see how it is read.");
      fill(this.readings);
      return fill(this.results);
    }
    const request = { query, limit: FOUND, include_hidden: this.hidden.checked, understand: Object.fromEntries(off.map((name) => [name, false])), explain: true };
    return soon ? this.finder.askSoon(request) : this.finder.ask(request);
  }

  async #find(request, signal) {
    const began = performance.now();
    const answer = await this.api.post("/search", request, { signal });
    return { ...answer, took: performance.now() - began };
  }

  #show({ products, total, took, understood, query }) {
    fill(this.summary, `${counted(total, "product")} in ${duration(took)}`);
    const chips = chipsOf(query, understood).map(({ kind, label }) => reading(kind, label));
    fill(this.readings, reading("words", understood.residual === "" ? "no words: conditions alone" : `searched for: ${understood.residual}`), chips);
    const top = Math.max(...products.map((product) => product.explanation?.score ?? 0), Number.EPSILON);
    fill(this.results, products.map((product) => explained(product, top)));
  }

  #fail(error) {
    if (wasAborted(error)) return;
    fill(this.summary, h("span", { class: "field-error" }, error instanceof Problem && error.errors[0] ? error.errors[0].message : told(error)));
  }
}

function reading(kind, text) {
  return h("li", { class: `reading reading-${kind}` }, text);
}

function explained(product, top) {
  const why = product.explanation;
  return h("li", { class: "explained-item", "data-product": String(product.id) },
    picture(product),
    h("div", { class: "explained-text" },
      h("p", { class: "explained-title" }, h("span", { dir: "auto" }, product.title), h("span", { class: "price" }, product.price)),
      why ? bars(why, top) : undefined));
}

/// A bar of the parts of a score, relative to the best score, and the parts as text.
function bars({ score, words, meaning }, top) {
  const parts = [["words", words.score * words.weight], ["meaning", meaning ? meaning.score * meaning.weight : 0]];
  const width = (value) => `${((value / top) * 100).toFixed(2)}%`;
  return [
    h("div", { class: "score-bar", role: "img", "aria-label": `Score ${shown(score)}: ${parts.map(([name, value]) => `${name} ${shown(value)}`).join(", ")}` },
      parts.map(([name, value]) => h("span", { class: `bar-part bar-${name}`, style: { width: width(value) } }))),
    h("dl", { class: "score-parts" },
      pair("score", shown(score)),
      pair("words", `${shown(words.score)} × ${shown(words.weight)}`, "words"),
      meaning ? pair("meaning", `${shown(meaning.score)} × ${shown(meaning.weight)}, similarity ${shown(meaning.similarity)}`, "meaning") : undefined,
      words.terms.map((term) => pair(said(term), `${shown(term.score)} ${places(term)}`, "term")),
      words.bonuses.map((bonus) => pair(bonus.name, shown(bonus.score), "term"))),
  ];
}

/// The term of the query, and the form that the product has where it differs.
function said({ term, as }) {
  return as && as !== term ? `${term} as ${as}` : term;
}

function places({ title, description }) {
  return [title > 0 ? "title" : undefined, description > 0 ? "description" : undefined].filter(Boolean).join(" and ");
}

function pair(name, value, kind = "plain") {
  return h("div", { class: `score-part score-${kind}` }, h("dt", {}, name), h("dd", {}, value));
}

const shown = (value) => value.toFixed(2);
