// The shop page: a search box with results as you type.

import { Api, Problem, told } from "./api.js";
import { card, walkWithArrows } from "./cards.js";
import { chipsOf } from "./chips.js";
import { Detail } from "./detail.js";
import { byId, fill, h, icon } from "./dom.js";
import { Finder } from "./finder.js";
import { AskedSession, DemoSession, demoToken, addSignOut } from "./signin.js";
import { counted, duration } from "./words.js";

const PAGE = 24;
/// The largest offset of a search.
const FURTHEST = 1000;
/// A query that matches every product, newest first: shown before the user searches.
const WINDOW = "newest";

const DEMO_EXAMPLES = [
  "something warm for my neck under $40",
  "a gift for someone who loves coffee",
  "waterproof jacket, not black",
  "cheapest desk lamp",
  "quiet toy for a 3 year old",
];

class Shop {
  constructor(session, examples) {
    this.api = new Api(session);
    this.examples = examples;
    this.box = byId("query");
    this.understand = {};
    this.shown = [];
    this.finder = new Finder({
      find: (request, signal) => this.#find(request, signal),
      show: (request, answer) => this.#show(request, answer),
      fail: (_, error) => this.#fail(error),
    });
    this.detail = new Detail({
      api: this.api,
      linkTo: (id) => this.#address({ product: id }),
      onClose: () => this.#leaveProduct(),
    });
    this.#listen();
    this.#follow();
  }

  #listen() {
    this.box.addEventListener("input", () => {
      this.understand = {};
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
      const typing = event.target.closest?.("input, textarea, select, dialog");
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
    window.addEventListener("hashchange", () => this.#follow());
  }

  /// Searches for `query` as if it had been typed.
  say(query, understand = {}) {
    this.box.value = query;
    this.understand = understand;
    history.replaceState(null, "", this.#address({}));
    this.box.focus();
    this.#search(false);
  }

  /// The URL of a state, in the fragment so that it is never sent to the server.
  #address({ product }) {
    const state = new URLSearchParams();
    if (this.box.value.trim() !== "") state.set("q", this.box.value);
    if (product !== undefined) state.set("product", product);
    return `#${state}`;
  }

  /// Restores the state from the URL.
  #follow() {
    const state = new URLSearchParams(location.hash.slice(1));
    const query = state.get("q") ?? "";
    if (query !== this.box.value || this.answered === undefined) {
      this.box.value = query;
      this.understand = {};
      this.#search(false);
    }
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
    const said = this.box.value.trim();
    const request = said === ""
      ? { query: WINDOW, isWindow: true, understand: {} }
      : { query: said, isWindow: false, understand: this.understand };
    byId("results").setAttribute("aria-busy", "true");
    if (soon && said !== "") this.finder.askSoon(request);
    else this.finder.ask(request);
  }

  async #find(request, signal, offset = 0) {
    const { query, understand } = request;
    const began = performance.now();
    const answer = await this.api.post("/search", { query, limit: PAGE, offset, understand }, { signal });
    return { ...answer, took: performance.now() - began };
  }

  #show(request, answer) {
    this.answered = request;
    this.total = answer.total;
    this.shown = answer.products;
    byId("results").setAttribute("aria-busy", "false");
    fill(byId("results"), answer.products.map((product) => this.#card(product)));
    this.#showMore();
    const chips = request.isWindow ? [] : chipsOf(request.query, answer.understood, request.understand);
    fill(byId("chips"), chips.map((chip) => this.#chip(chip)));
    byId("intro").hidden = !request.isWindow;
    if (request.isWindow) fill(byId("examples"), this.examples(answer.products).map((text) => this.#example(text)));
    const total = counted(answer.total, "product");
    fill(byId("total"), request.isWindow ? `${total} in the shop, newest first` : [total, h("span", { class: "soft" }, ` in ${duration(answer.took)}`)]);
    this.#showNotice(answer.total === 0 ? this.#advice(request, chips) : undefined);
    byId("query-clear").hidden = request.isWindow;
  }

  #card(product) {
    return card(product, this.#address({ product: product.id }));
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
      const answer = await this.#find(request, undefined, this.shown.length);
      if (request !== this.answered) return;
      const first = this.shown.length;
      this.shown.push(...answer.products);
      byId("results").append(...answer.products.map((product) => this.#card(product)));
      this.#showMore();
      byId("results").querySelectorAll(".card")[first]?.focus();
    } catch (error) {
      this.#fail(error);
    } finally {
      button.disabled = false;
    }
  }

  #chip(chip) {
    const take = () => this.say(chip.without.query, chip.without.understand);
    return h("li", {},
      h("button", { class: `chip chip-${chip.kind}`, type: "button", "aria-label": `Remove: ${chip.label}`, on: { click: take } },
        h("span", {}, chip.label), icon("close")));
  }

  #example(text) {
    return h("li", {}, h("button", { class: "example", type: "button", on: { click: () => this.say(text) } }, text));
  }

  #advice(request, chips) {
    if (request.isWindow) {
      return h("div", { class: "empty" },
        h("h2", { class: "empty-title" }, "The shop is empty"),
        h("p", { class: "soft" }, "Products appear here as soon as they are created. The admin page at ", h("a", { href: "/admin" }, "/admin"), " imports a file in one go."));
    }
    const advice = chips.map((chip) => h("li", {},
      h("button", { class: "button", type: "button", on: { click: () => this.say(chip.without.query, chip.without.understand) } }, `Search without “${chip.label}”`)));
    return h("div", { class: "empty" },
      h("h2", { class: "empty-title" }, "Nothing found"),
      h("p", { class: "soft" }, chips.length > 0
        ? "No product satisfies all of it. Take a condition back:"
        : "Try fewer or more general words, or say what it is for: “something to sit on”."),
      h("ul", { class: "empty-ways" }, advice,
        h("li", {}, h("button", { class: "button", type: "button", on: { click: () => this.say("") } }, "Show the whole shop"))));
  }

  #fail(error) {
    byId("results").setAttribute("aria-busy", "false");
    const blank = error instanceof Problem && error.status === 422;
    this.#showNotice(h("div", { class: "notice notice-warn", role: "alert" },
      h("p", {}, told(error)),
      blank ? undefined : h("button", { class: "button", type: "button", on: { click: () => this.#search(false) } }, "Try again")));
  }

  #showNotice(notice) {
    fill(byId("notice"), notice);
  }
}

/// Example queries made from the shop's products.
function examplesOf(products) {
  if (products.length === 0) return [];
  const words = (text) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const short = (product) => words(product.title).slice(0, 3).join(" ").toLowerCase();
  const [first, second, third] = [0, 1, 2].map((place) => products[place * Math.floor(products.length / 3)] ?? products[0]);
  const price = third.price.trim();
  const texts = [short(first), `${short(second)} under ${price}`, `under ${price}`, "cheapest", "newest"];
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

function showLanding() {
  const way = (href, name, title, text) => h("li", {},
    h("a", { class: "way", href }, icon(name), h("span", { class: "way-title" }, title), h("span", { class: "soft" }, text)));
  byId("search-form").hidden = true;
  fill(byId("content"),
    h("section", { class: "landing" },
      h("h1", { class: "landing-title" }, "Shopkeeper is running"),
      h("p", { class: "lead" }, "A product catalog with search in shoppers’ own words."),
      h("ul", { class: "ways" },
        way("/preview", "basket", "Shop preview", "Search a shop as its shoppers do. Needs a token of any role."),
        way("/admin", "screen", "Admin", "Create, edit and import products, watch the dashboard. Needs an EDITOR or ADMIN token."),
        way("/docs", "book", "Documentation", "Every address of the interface, with examples."))));
}

async function start() {
  if (location.pathname === "/") {
    const token = await demoToken();
    if (token === undefined) return showLanding();
    fill(byId("bar-end"), h("a", { class: "button button-quiet", href: "/admin" }, "Admin"));
    byId("content").hidden = false;
    return new Shop(new DemoSession(token), () => DEMO_EXAMPLES);
  }
  const session = new AskedSession({
    why: "A token of any role shows this shop as shoppers see it.",
    command: "shopkeeper token create --shop 1 --role SHOPPER",
  });
  addSignOut(session);
  return new Shop(session, examplesOf);
}

await start();
