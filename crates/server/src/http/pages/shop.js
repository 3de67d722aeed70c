// The shop page: a search box with results as you type, and facets to narrow them down. The query,
// filters, order and number of shown pages are in the URL's fragment, which is never sent to a server.

import { Api, Problem, told } from "./api.js";
import { card, walkWithArrows } from "./cards.js";
import { chipsOf } from "./chips.js";
import { Detail } from "./detail.js";
import { byId, fill, h, icon } from "./dom.js";
import { Drawer } from "./drawer.js";
import { FacetPanel } from "./facets.js";
import { facetNames, filterChips, isEmpty, learnCategories, readFilter, withFilterNames, writeFilter } from "./filters.js";
import { Finder } from "./finder.js";
import { followLanguage } from "./language.js";
import { AskedSession, DemoSession, demoToken, addSignOut } from "./signin.js";
import { text, textOf, textParts } from "./texts.js";
import { duration } from "./words.js";

const PAGE = 24;
/// Pages of one request when several are restored at once.
const PAGES_AT_ONCE = 2;
/// The largest offset of a search.
const FURTHEST = 1000;
/// The most values of a facet.
const FACET_VALUES = 60;

const SORTS = { relevance: "sort.relevance", price: "sort.price", "-price": "sort.price-descending", newest: "sort.newest" };
/// What can be switched off in a query.
const SWITCHES = ["attributes", "corrections"];
/// The orders that a query may ask for in words.
const ASKED_SORTS = { price_ascending: "price", price_descending: "-price", newest: "newest" };

/// The language of the demo's products.
const DEMO_LANGUAGE = "en";

class Shop {
  /// `examples(products)` are queries to try, `lang` is the language of products' texts if it is known.
  constructor(session, { examples, lang }) {
    this.api = new Api(session);
    Object.assign(this, { examples, lang });
    this.box = byId("query");
    this.understand = {};
    this.view = { filter: {}, sort: undefined, pages: 1 };
    this.shown = [];
    this.finder = new Finder({
      find: (request, signal) => this.#find(request, signal),
      show: (request, answer) => this.#show(request, answer),
      fail: (_, error) => this.#fail(error),
    });
    this.detail = new Detail({
      api: this.api,
      linkTo: (id) => this.#address({ product: id }),
      lang,
      onClose: () => this.#leaveProduct(),
    });
    this.facets = new FacetPanel({ element: byId("facets"), onChange: (filter) => this.#go({ filter }) });
    this.drawer = this.#makeDrawer();
    this.#listen();
    this.#follow();
  }

  #makeDrawer() {
    this.drawerDone = h("button", { class: "button button-main", type: "button", on: { click: () => this.drawer.close() } });
    this.drawerClear = h("button", { class: "button", type: "button", "data-text": "filters.clear", on: { click: () => this.#go({ filter: {} }) } }, text("filters.clear"));
    const title = h("span", { "data-text": "filters.title" }, text("filters.title"));
    return new Drawer({ title, content: byId("facets"), foot: [this.drawerClear, this.drawerDone] });
  }

  /// Draws everything again, in another language.
  redraw() {
    this.#search(false);
  }

  #listen() {
    this.box.addEventListener("input", () => {
      this.understand = {};
      this.view = { ...this.view, pages: 1 };
      history.replaceState(null, "", this.#address({}));
      this.#search(true);
    });
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search(false);
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        byId("results").querySelector(".card")?.focus();
      } else if (event.key === "Escape" && this.box.value !== "") {
        event.preventDefault();
        this.say("");
      }
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, dialog");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        this.box.focus();
        this.box.select();
      } else if (event.key === "Escape" && !typing) {
        this.box.focus();
      }
    });
    walkWithArrows(byId("results"), () => this.box.focus());
    byId("query-clear").addEventListener("click", () => this.say(""));
    byId("more").addEventListener("click", () => this.#more());
    byId("open-filters").addEventListener("click", () => this.drawer.open());
    byId("sort").addEventListener("change", (event) => this.#go({ sort: event.target.value === this.usualSort ? undefined : event.target.value }));
    window.addEventListener("hashchange", () => this.#follow());
  }

  /// Searches for `query` as if it had been typed.
  say(query, understand = {}) {
    this.box.value = query;
    this.understand = understand;
    this.view = { ...this.view, pages: 1 };
    history.replaceState(null, "", this.#address({}));
    this.box.focus();
    this.#search(false);
  }

  /// Changes the filter or the order: a step that the browser's back button takes back.
  #go(changes) {
    this.view = { ...this.view, pages: 1, ...changes };
    history.pushState(null, "", this.#address({}));
    this.#search(false);
  }

  /// The URL of a state, in the fragment so that it is never sent to the server.
  #address({ product }) {
    const state = new URLSearchParams();
    const { filter, sort, pages } = this.view;
    if (this.box.value.trim() !== "") state.set("q", this.box.value);
    const off = SWITCHES.filter((name) => this.understand[name] === false);
    if (off.length > 0) state.set("off", off.join("."));
    writeFilter(filter, state);
    if (sort !== undefined) state.set("sort", sort);
    if (pages > 1) state.set("pages", String(pages));
    if (product !== undefined) state.set("product", product);
    return `#${state}`;
  }

  /// Restores the state from the URL.
  #follow() {
    const state = new URLSearchParams(location.hash.slice(1));
    const before = this.#address({});
    this.box.value = state.get("q") ?? "";
    const pages = Math.min(Math.max(Math.trunc(Number(state.get("pages"))) || 1, 1), FURTHEST / PAGE);
    const sort = Object.hasOwn(SORTS, state.get("sort")) ? state.get("sort") : undefined;
    const off = (state.get("off") ?? "").split(".").filter((name) => SWITCHES.includes(name));
    this.understand = Object.fromEntries(off.map((name) => [name, false]));
    this.view = { filter: readFilter(state), sort, pages };
    if (this.#address({}) !== before || this.answered === undefined) this.#search(false);
    const product = Number(state.get("product"));
    if (Number.isSafeInteger(product) && product > 0) {
      this.detail.open(product, this.shown.find(({ id }) => id === product));
    } else {
      this.detail.close();
    }
  }

  #leaveProduct() {
    history.replaceState(null, "", this.#address({}));
  }

  #search(soon) {
    const query = this.box.value.trim();
    const { filter, sort, pages } = this.view;
    const isWindow = query === "" && isEmpty(filter);
    const request = { query, isWindow, filter, sort, pages, understand: query === "" ? {} : this.understand };
    request.facets = withFilterNames(this.#keepsFacets(request) ? this.names.list : ["price"], filter);
    byId("results").setAttribute("aria-busy", "true");
    if (soon && query !== "") this.finder.askSoon(request);
    else this.finder.ask(request);
  }

  async #find(request, signal) {
    const began = performance.now();
    const answer = await this.#ask(request, { limit: PAGE * Math.min(request.pages, PAGES_AT_ONCE), facets: request.facets }, signal);
    const took = performance.now() - began;
    const wanted = Math.min(request.pages * PAGE, answer.total, FURTHEST + PAGE);
    while (answer.products.length < wanted) {
      const next = await this.#ask(request, { limit: PAGE * PAGES_AT_ONCE, offset: answer.products.length }, signal);
      if (next.products.length === 0) break;
      answer.products.push(...next.products);
    }
    return { ...answer, took };
  }

  /// Sends a search; without words, a filter alone lists the shop.
  #ask({ query, filter, sort, understand }, { limit, offset = 0, facets }, signal) {
    const body = { filter, limit, offset };
    if (query !== "") Object.assign(body, { query, understand });
    if (sort !== undefined) body.sort = sort;
    if (facets !== undefined) Object.assign(body, { facets, facet_limit: FACET_VALUES });
    return this.api.post("/search", body, { signal });
  }

  #show(request, answer) {
    const keepsFacets = this.#keepsFacets(request);
    this.answered = request;
    this.total = answer.total;
    this.shown = answer.products;
    byId("results").setAttribute("aria-busy", "false");
    learnCategories(answer.products, this.facets.categories);
    fill(byId("results"), answer.products.map((product) => this.#card(product)));
    this.#showMore();
    const chips = this.#chipsOf(request, answer);
    fill(byId("chips"), chips.map((chip) => this.#chip(chip)), isEmpty(request.filter) ? undefined : h("li", {},
      h("button", { class: "button button-quiet button-small", type: "button", on: { click: () => this.#clearFilter() } }, text("filters.clear"))));
    byId("intro").hidden = !request.isWindow;
    if (request.isWindow) fill(byId("examples"), this.examples(answer.products).map((query) => this.#example(query)));
    this.#showTotal(request, answer);
    this.#showNotice(answer.total === 0 ? this.#advice(request, chips) : undefined);
    byId("query-clear").hidden = request.query === "";
    byId("shelves").classList.toggle("is-bare", request.isWindow && answer.total === 0);
    this.#showSort(request, answer);
    this.#showFacets(request, answer, keepsFacets);
  }

  #showTotal({ isWindow, sort }, { total: count, took }) {
    const inShop = sort === undefined ? "results.in-shop-newest" : "results.in-shop";
    fill(byId("total"), isWindow
      ? text(inShop, { count })
      : [text("results.count", { count }), " ", h("span", { class: "soft" }, text("results.took", { duration: duration(took) }))]);
  }

  /// Conditions of the words and of the filter, in this order. An order that was chosen wins over one
  /// in the words, which is not shown then.
  #chipsOf(request, answer) {
    const said = request.query === "" ? [] : chipsOf(request.query, answer.understood, request.understand);
    const words = said.filter(({ kind }) => kind !== "sort" || request.sort === undefined)
      .map((chip) => ({ ...chip, remove: () => this.say(chip.without.query, chip.without.understand) }));
    return [...words, ...filterChips(request.filter, this.facets.categories).map((chip) => ({ ...chip, remove: () => this.#dropFilter(chip.without) }))];
  }

  /// Removes a condition with its chip, which had the focus.
  #dropFilter(filter) {
    this.#go({ filter });
    byId("total").focus();
  }

  #clearFilter() {
    this.#dropFilter({});
  }

  #showSort(request, answer) {
    this.usualSort = ASKED_SORTS[answer.understood?.sort?.order] ?? (request.query === "" ? "newest" : "relevance");
    const names = Object.keys(SORTS).filter((name) => name !== "relevance" || request.query !== "");
    const select = byId("sort");
    fill(select, names.map((name) => h("option", { value: name }, text(SORTS[name]))));
    select.value = names.includes(request.sort) ? request.sort : this.usualSort;
  }

  /// While the query stays, so do its facets: they do not move under the pointer. Facets that were
  /// chosen for a part of the products only are chosen anew for all of them.
  #keepsFacets({ query, filter }) {
    return this.answered?.query === query && (this.names.isOfAll || !isEmpty(filter));
  }

  /// A new query shows its products at once and then asks for the facets that these products have.
  async #showFacets(request, answer, keepsFacets) {
    const active = filterChips(request.filter).length;
    byId("filter-count").hidden = active === 0;
    fill(byId("filter-count"), String(active), h("span", { class: "visually-hidden" }, ` ${text("filters.active", { count: active })}`));
    this.drawerClear.disabled = active === 0;
    fill(this.drawerDone, text("filters.show", { count: answer.total }));
    if (keepsFacets) return this.#drawFacets(request, answer);
    this.names = { list: facetNames(answer.products, {}), isOfAll: isEmpty(request.filter) };
    const names = withFilterNames(this.names.list, request.filter);
    if (names.every((name) => request.facets.includes(name))) return this.#drawFacets(request, answer);
    try {
      const counts = await this.#ask(request, { limit: 1, facets: names });
      if (request === this.answered) this.#drawFacets({ ...request, facets: names }, counts);
    } catch {
      // The products are shown; without counts, the facets of the first request have to do.
      if (request === this.answered) this.#drawFacets(request, answer);
    }
  }

  #drawFacets({ filter, facets: names }, { facets, facets_are_exact: exact }) {
    this.facets.show({ facets, names, filter, exact });
  }

  #card(product) {
    return card(product, this.#address({ product: product.id }), this.lang);
  }

  #showMore() {
    const left = Math.min(this.total, FURTHEST + PAGE) - this.shown.length;
    byId("more").hidden = left <= 0;
  }

  async #more() {
    const button = byId("more");
    const request = this.answered;
    button.disabled = true;
    try {
      const answer = await this.#ask(request, { limit: PAGE, offset: this.shown.length });
      if (request !== this.answered) return;
      const first = this.shown.length;
      this.shown.push(...answer.products);
      this.view = { ...this.view, pages: Math.ceil(this.shown.length / PAGE) };
      history.replaceState(null, "", this.#address({}));
      for (const shown of byId("results").querySelectorAll(".card")) shown.setAttribute("href", this.#address({ product: shown.dataset.product }));
      byId("results").append(...answer.products.map((product) => this.#card(product)));
      this.#showMore();
      byId("results").querySelectorAll(".card")[first]?.focus();
    } catch (error) {
      this.#fail(error);
    } finally {
      button.disabled = false;
    }
  }

  #chip({ kind, label, remove }) {
    return h("li", {},
      h("button", { class: `chip chip-${kind}`, type: "button", "aria-label": text("chips.remove", { label }), on: { click: remove } },
        h("span", { dir: "auto" }, label), icon("close")));
  }

  #example(query) {
    return h("li", {}, h("button", { class: "example", type: "button", on: { click: () => this.say(query) } }, query));
  }

  #advice(request, chips) {
    if (request.isWindow) {
      return h("div", { class: "empty" },
        h("h2", { class: "empty-title" }, text("empty.shop")),
        h("p", { class: "soft" }, textParts("empty.shop-advice", { link: h("a", { href: "/admin" }, "/admin") })));
    }
    const conditions = chips.filter(({ isWish }) => !isWish);
    const advice = conditions.map(({ label, remove }) => h("li", {},
      h("button", { class: "button", type: "button", on: { click: remove } }, text("empty.without", { label }))));
    return h("div", { class: "empty" },
      h("h2", { class: "empty-title" }, text("empty.title")),
      h("p", { class: "soft" }, text(conditions.length > 0 ? "empty.conditions" : "empty.words")),
      h("ul", { class: "empty-ways" }, advice,
        h("li", {}, h("button", { class: "button", type: "button", on: { click: () => this.#showAll() } }, text("empty.all")))));
  }

  #showAll() {
    this.view = { filter: {}, sort: undefined, pages: 1 };
    this.say("");
  }

  #fail(error) {
    byId("results").setAttribute("aria-busy", "false");
    const blank = error instanceof Problem && error.status === 422;
    this.#showNotice(h("div", { class: "notice notice-warn", role: "alert" },
      h("p", {}, told(error)),
      blank ? undefined : h("button", { class: "button", type: "button", on: { click: () => this.#search(false) } }, text("page.try-again"))));
  }

  #showNotice(notice) {
    fill(byId("notice"), notice);
  }
}

/// Example queries made from the shop's products.
function examplesOf(products) {
  if (products.length === 0) return [];
  const words = (title) => title.match(/[\p{L}\p{N}]+/gu) ?? [];
  const short = (product) => words(product.title).slice(0, 3).join(" ").toLowerCase();
  const [first, second, third] = [0, 1, 2].map((place) => products[place * Math.floor(products.length / 3)] ?? products[0]);
  const price = third.price.trim();
  const queries = [
    short(first), text("intro.example-priced", { words: short(second), price }), text("intro.example-price", { price }),
    text("intro.example-cheapest"), text("intro.example-newest"),
  ];
  return [...new Set(queries)].filter((query) => query.trim() !== "");
}

function showLanding() {
  const way = (href, name, title, about) => h("li", {},
    h("a", { class: "way", href }, icon(name), h("span", { class: "way-title" }, text(title)), h("span", { class: "soft" }, text(about))));
  byId("search-form").hidden = true;
  fill(byId("content"),
    h("section", { class: "landing" },
      h("h1", { class: "landing-title" }, text("landing.title")),
      h("p", { class: "lead" }, text("landing.lead")),
      h("ul", { class: "ways" },
        way("/preview", "basket", "landing.preview", "landing.preview-text"),
        way("/admin", "screen", "landing.admin", "landing.admin-text"),
        way("/docs", "book", "landing.docs", "landing.docs-text"))));
  return { redraw: showLanding };
}

/// Shows what this address has. Returns it with the method that draws it again.
async function start() {
  if (location.pathname === "/") {
    const token = await demoToken();
    if (token === undefined) return showLanding();
    fill(byId("bar-end"), h("a", { class: "button button-quiet", href: "/admin", "data-text": "page.admin" }, text("page.admin")));
    byId("content").hidden = false;
    return new Shop(new DemoSession(token), { examples: () => textOf("intro.examples"), lang: DEMO_LANGUAGE });
  }
  const session = new AskedSession({ why: text("token.why"), command: "shopkeeper token create --shop 1 --role SHOPPER" });
  addSignOut(session);
  return new Shop(session, { examples: examplesOf });
}

let shown;
followLanguage(() => shown?.redraw());
shown = await start();
