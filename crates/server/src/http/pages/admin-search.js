// The search lab: a search with its filter and facets, and the parts of each product's score drawn as
// bars. The filter is written as JSON or chosen from the facets, which write it.

import { attributesLine, inferredLine } from "./attributes.js";
import { Problem, told, wasAborted } from "./api.js";
import { chipsOf } from "./chips.js";
import { fill, h } from "./dom.js";
import { FacetPanel } from "./facets.js";
import { facetNames, isEmpty, learnCategories } from "./filters.js";
import { Finder } from "./finder.js";
import { picture } from "./pictures.js";
import { recall, remember } from "./storage.js";
import { counted, duration } from "./words.js";

const STATE = "search";
const FOUND = 20;
/// The most values of a facet.
const FACET_VALUES = 60;
const SWITCHES = [["price", "Prices"], ["exclusions", "Exclusions"], ["sort", "Order"], ["corrections", "Spelling"], ["attributes", "Attributes"]];
/// The parts of a score of the second stage: the names in the response, and on the page.
const RERANKED = [
  ["lexical", "words"], ["similarity", "meaning"], ["deep_similarity", "deep meaning"], ["soft_coverage", "coverage"], ["names", "names"],
  ["category", "category"], ["attributes", "attributes"], ["preference", "preference"],
];

export class SearchView {
  constructor({ api }) {
    this.api = api;
    const state = { query: "", hidden: false, off: [], filter: "", facets: "", sort: "", ...recall(STATE) };
    this.box = h("input", { class: "field-input", id: "lab-query", type: "search", maxlength: "1000", autocomplete: "off", spellcheck: "false", placeholder: "red shoes under $50 without leather", value: state.query });
    this.hidden = h("input", { type: "checkbox", checked: state.hidden });
    const plain = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
    this.filter = h("textarea", { class: "field-input field-small", id: "lab-filter", rows: "2", spellcheck: "false", placeholder: '{"color": ["red"], "price": {"max": "50"}}', "aria-describedby": "lab-filter-error", value: state.filter });
    this.filterError = h("p", { class: "field-error", id: "lab-filter-error", role: "alert" });
    this.facetNames = h("input", { ...plain, class: "field-input", id: "lab-facets", placeholder: "those of the first products", value: state.facets });
    this.sort = h("input", { ...plain, class: "field-input", id: "lab-sort", placeholder: "relevance", value: state.sort });
    this.panel = new FacetPanel({ element: h("div", { class: "facets" }), onChange: (filter) => this.#setFilter(filter) });
    this.switches = SWITCHES.map(([name, label]) => [name, label, h("input", { type: "checkbox", checked: !state.off.includes(name) })]);
    this.summary = h("p", { class: "soft", role: "status" });
    this.readings = h("ul", { class: "readings" });
    this.results = h("ol", { class: "explained" });
    this.finder = new Finder({
      find: (request, signal) => this.#find(request, signal),
      show: (request, answer) => this.#show(request, answer),
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
      h("label", { class: "check" }, this.hidden, "Hidden products too")),
    h("div", { class: "field" }, h("label", { class: "field-label", for: "lab-filter" }, "Filter, as JSON"), this.filter, this.filterError),
    h("div", { class: "fields-row" },
      h("div", { class: "field" }, h("label", { class: "field-label", for: "lab-facets" }, "Facets, separated by commas"), this.facetNames),
      h("div", { class: "field" }, h("label", { class: "field-label", for: "lab-sort" }, "Sort"), this.sort)));
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Search lab"), h("p", { class: "soft" }, "What was understood, what a filter does, and what each product’s score is made of")),
      form, h("div", { class: "stack" }, this.summary, this.readings), h("div", { class: "lab" }, this.panel.element, this.results));
  }

  enter() {
    this.#ask(false);
  }

  leave() {
    this.finder.cancel();
  }

  #ask(soon) {
    const off = this.switches.filter(([, , input]) => !input.checked).map(([name]) => name);
    remember(STATE, { query: this.box.value, hidden: this.hidden.checked, off, filter: this.filter.value, facets: this.facetNames.value, sort: this.sort.value });
    const query = this.box.value.trim();
    const filter = this.#readFilter();
    if (filter === null || (query === "" && filter === undefined)) {
      this.finder.cancel();
      fill(this.summary, filter === null ? undefined : "Type a query or a filter to see what it finds.");
      fill(this.readings);
      this.panel.show({ names: [], filter: {} });
      return fill(this.results);
    }
    const request = { include_hidden: this.hidden.checked, understand: Object.fromEntries(off.map((name) => [name, false])) };
    if (query !== "") request.query = query;
    if (filter !== undefined) request.filter = filter;
    if (this.sort.value.trim() !== "") request.sort = this.sort.value.trim();
    return soon ? this.finder.askSoon(request) : this.finder.ask(request);
  }

  /// The filter that is written; `undefined` where there is none, and `null` where it is not an object.
  #readFilter() {
    const text = this.filter.value.trim();
    let filter = text === "" ? undefined : null;
    try {
      const value = text === "" ? undefined : JSON.parse(text);
      if (value !== null && typeof value === "object" && !Array.isArray(value)) filter = value;
    } catch {
      // Half a filter is not searched for.
    }
    fill(this.filterError, filter === null ? "This is not a JSON object yet." : undefined);
    this.filter.setAttribute("aria-invalid", filter === null ? "true" : "false");
    return filter;
  }

  #setFilter(filter) {
    this.filter.value = isEmpty(filter) ? "" : JSON.stringify(filter);
    this.#ask(false);
  }

  /// Searches, then counts the facets of what was found, and what there is without the filter.
  async #find(request, signal) {
    const began = performance.now();
    const answer = await this.api.post("/search", { ...request, limit: FOUND, explain: true }, { signal });
    const took = performance.now() - began;
    const named = this.facetNames.value.split(",").map((name) => name.trim()).filter((name) => name !== "");
    const { not: _, ...filter } = request.filter ?? {};
    const names = named.length > 0 ? named : facetNames(answer.products, filter);
    const count = (more) => this.api.post("/search", { ...request, limit: 1, ...more }, { signal });
    const counts = await count({ facets: names, facet_limit: FACET_VALUES });
    const unfiltered = isEmpty(request.filter ?? {}) ? undefined : (await count({ filter: {} })).total;
    return { ...answer, took, names, facets: counts.facets, exact: counts.facets_are_exact, unfiltered };
  }

  #show(request, { products, total, took, understood, query, names, facets, exact, unfiltered }) {
    const without = unfiltered === undefined ? "" : `; ${counted(unfiltered, "product")} without the filter`;
    fill(this.summary, `${counted(total, "product")} in ${duration(took)}${without}`);
    const chips = request.query === undefined ? [] : chipsOf(query, understood).map(({ kind, label }) => reading(kind, label));
    const words = request.query === undefined ? "no query: the filter alone" : understood.residual === "" ? "no words: conditions alone" : `searched for: ${understood.residual}`;
    fill(this.readings, reading("words", words), languageReading(understood), chips);
    learnCategories(products, this.panel.categories);
    this.panel.show({ facets, names, filter: request.filter ?? {}, exact });
    const top = Math.max(...products.map((product) => product.explanation?.score ?? 0), Number.EPSILON);
    fill(this.results, products.map((product) => explained(product, top)));
  }

  #fail(error) {
    if (wasAborted(error)) return;
    const fault = error instanceof Problem ? error.errors[0] : undefined;
    const text = fault === undefined ? told(error) : fault.field && fault.field !== "query" ? `${fault.field}: ${fault.message}` : fault.message;
    fill(this.summary, h("span", { class: "field-error" }, text));
  }
}

function reading(kind, text) {
  return h("li", { class: `reading reading-${kind}` }, text);
}

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });

function languageReading(understood) {
  return understood?.language && reading("words", `language: ${LANGUAGES.of(understood.language)}`);
}

function explained(product, top) {
  const why = product.explanation;
  return h("li", { class: "explained-item", "data-product": String(product.id) },
    picture(product),
    h("div", { class: "explained-text" },
      h("p", { class: "explained-title" }, h("span", { dir: "auto" }, product.title), h("span", { class: "price" }, product.price)),
      product.attributes || product.key ? h("p", { class: "row-attributes", dir: "auto" }, [product.key, attributesLine(product.attributes)].filter(Boolean).join(" · ")) : undefined,
      inferredLine(product) === "" ? undefined : h("p", { class: "row-attributes row-inferred" }, h("span", { class: "row-mark" }, "Inferred"), inferredLine(product)),
      why?.key ? h("p", { class: "badge" }, "The query is the key of this product") : undefined,
      why ? bars(why, top) : undefined));
}

/// A bar of the parts of a score, relative to the best score, and the parts as text.
function bars({ score, words, meaning, rerank }, top) {
  const parts = rerank
    ? RERANKED.map(([field, name]) => [name, rerank.contributions[field]])
    : [["words", words.score * words.weight], ["meaning", meaning ? meaning.score * meaning.weight : 0]];
  // What counts against a product has no bar.
  const width = (value) => `${(Math.max(value / top, 0) * 100).toFixed(2)}%`;
  return [
    h("div", { class: "score-bar", role: "img", "aria-label": `Score ${shown(score)}: ${parts.map(([name, value]) => `${name} ${shown(value)}`).join(", ")}` },
      parts.map(([name, value]) => h("span", { class: `bar-part bar-${name}`, style: { width: width(value) } }))),
    h("dl", { class: "score-parts" },
      pair("score", shown(score)),
      rerank ? reranked(rerank, parts) : firstStage(words, meaning),
      words.terms.map((term) => pair(said(term), `${shown(term.score)} ${places(term)}`, "term")),
      words.bonuses.map((bonus) => pair(bonus.name, shown(bonus.score), "term"))),
  ];
}

function firstStage(words, meaning) {
  return [
    pair("words", `${shown(words.score)} × ${shown(words.weight)}`, "words"),
    meaning ? pair("meaning", `${shown(meaning.score)} × ${shown(meaning.weight)}, similarity ${shown(meaning.similarity)}`, "meaning") : undefined,
  ];
}

/// What each part of the second stage adds, with the evidence for it.
function reranked({ evidence }, parts) {
  const { attributes } = evidence;
  const agreement = Object.entries(attributes).filter(([, value]) => value !== 0).map(([name, value]) => `${name.replace("_", " ")} ${shown(value)}`);
  const why = {
    words: `match ${shown(evidence.lexical)}`,
    meaning: `similarity ${shown(evidence.similarity)}, by phrases ${shown(evidence.phrase_similarity)}`,
    "deep meaning": `similarity ${shown(evidence.deep_similarity)}`,
    coverage: `covered ${shown(evidence.soft_coverage)}`,
    names: `named ${shown(evidence.names)}, nearest ${shown(evidence.head)}`,
    category: `probability ${shown(evidence.category)}`,
    attributes: agreement.join(", "),
  };
  // The last three are told where the query asks for something.
  const asks = ["category", "attributes", "preference"];
  const told = ([name, value]) => !asks.includes(name) || value !== 0 || (name === "attributes" && why[name] !== "");
  return parts.filter(told).map(([name, value]) => pair(name, [shown(value), why[name]].filter(Boolean).join(", "), name));
}

/// The term of the query, and the form that the product has where it differs.
function said({ term, as }) {
  return as && as !== term ? `${term} as ${as}` : term;
}

function places({ title, description, attribute }) {
  return [title > 0 && "title", description > 0 && "description", attribute && "key or attribute"].filter(Boolean).join(" and ");
}

function pair(name, value, kind = "plain") {
  return h("div", { class: `score-part score-${kind}` }, h("dt", {}, name), h("dd", {}, value));
}

const shown = (value) => value.toFixed(2);
