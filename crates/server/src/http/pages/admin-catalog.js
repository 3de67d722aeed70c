// The catalog: a table of products with filters, orders, pages, an editor and bulk actions.

import { told, wasAborted } from "./api.js";
import { BulkActions } from "./admin-bulk.js";
import { Editor } from "./admin-editor.js";
import { CatalogFilters } from "./admin-filters.js";
import { attributesLine, inferredLine, labelOf } from "./attributes.js";
import { confirmed, say } from "./dialogs.js";
import { fill, h, icon } from "./dom.js";
import { isEmpty, readFilter, writeFilter } from "./filters.js";
import { pageOf, ROWS } from "./listing.js";
import { picture } from "./pictures.js";
import { counted, number, when } from "./words.js";

const PAUSE_MS = 200;
const SORTS = [["", "Newest first"], ["oldest", "Oldest first"], ["price", "Price, lowest first"], ["-price", "Price, highest first"]];
const SORT = /^-?[a-z][a-z0-9_]{0,39}$/;

export class CatalogView {
  #underway;
  #timer;

  constructor({ api }) {
    this.api = api;
    this.state = { text: "", key: "", shown: "all", filter: {}, sort: "", page: 0 };
    this.selected = new Map();
    this.products = [];
    this.attributeNames = new Set();
    this.filters = new CatalogFilters({ api, onChange: (changes) => this.#go(changes) });
    this.editor = new Editor({ api, onSaved: () => this.load(), attributeNames: () => [...this.attributeNames].sort() });
    this.bulk = new BulkActions({ api, selected: this.selected, onDone: () => this.load() });
    this.element = this.#draw();
    this.editor.resume();
  }

  enter(state) {
    const sort = SORT.test(state.get("sort") ?? "") ? state.get("sort") : "";
    this.state = {
      text: state.get("q") ?? "", key: state.get("key") ?? "", shown: state.get("show") ?? "all",
      filter: readFilter(state), sort, page: Math.max(Number(state.get("page")) || 1, 1) - 1,
    };
    if (this.filter.value.trim() !== this.state.text) this.filter.value = this.state.text;
    this.shown.value = this.state.shown;
    this.load();
  }

  leave() {
    this.#underway?.abort();
  }

  #go(changes) {
    clearTimeout(this.#timer);
    const { text, key, shown, filter, sort, page } = { ...this.state, text: this.filter.value.trim(), page: 0, ...changes };
    const state = new URLSearchParams();
    if (text !== "") state.set("q", text);
    if (key !== "") state.set("key", key);
    if (shown !== "all") state.set("show", shown);
    writeFilter(filter, state);
    if (sort !== "") state.set("sort", sort);
    if (page > 0) state.set("page", page + 1);
    const address = state.size > 0 ? `#/catalog?${state}` : "#/catalog";
    history.replaceState(null, "", address);
    this.enter(state);
  }

  async load() {
    this.#underway?.abort();
    const underway = new AbortController();
    this.#underway = underway;
    this.table.setAttribute("aria-busy", "true");
    try {
      const onLooked = (count) => fill(this.summary, `Looking through the catalog: ${number(count)} so far`);
      const found = await pageOf(this.api, this.state, { signal: underway.signal, onLooked });
      if (underway !== this.#underway) return;
      // Products deleted elsewhere may leave the last page empty.
      if (found.products.length === 0 && this.state.page > 0) return this.#go({ page: this.state.page - 1 });
      this.#show(found);
    } catch (error) {
      if (wasAborted(error) || underway !== this.#underway) return;
      fill(this.notice, h("div", { class: "notice notice-bad", role: "alert" }, told(error)));
    } finally {
      if (underway === this.#underway) this.table.setAttribute("aria-busy", "false");
    }
  }

  #draw() {
    this.filter = h("input", {
      class: "field-input", id: "filter", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Find products", maxlength: "1000",
      on: {
        input: () => {
          clearTimeout(this.#timer);
          this.#timer = setTimeout(() => this.#go({}), PAUSE_MS);
        },
      },
    });
    this.shown = h("select", { class: "field-input", id: "shown", on: { change: () => this.#go({ shown: this.shown.value }) } },
      [["all", "All products"], ["visible", "Visible"], ["hidden", "Hidden"]].map(([value, text]) => h("option", { value }, text)));
    this.sort = h("select", { class: "field-input", id: "catalog-sort", on: { change: () => this.#go({ sort: this.sort.value }) } });
    this.summary = h("p", { class: "soft summary", role: "status" });
    this.all = h("input", { type: "checkbox", "aria-label": "Select all on this page", on: { change: () => this.#selectAll(this.all.checked) } });
    this.rows = h("tbody", {});
    this.table = h("table", { class: "products" },
      h("thead", {}, h("tr", {},
        h("th", { class: "cell-check", scope: "col" }, this.all),
        h("th", { scope: "col", colspan: "2" }, "Product"),
        h("th", { scope: "col" }, "Price"),
        h("th", { scope: "col" }, "State"),
        h("th", { scope: "col" }, "Last change"),
        h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Actions")))),
      this.rows);
    this.notice = h("div", {});
    this.before = this.#pager("Newer", "back", -1);
    this.after = this.#pager("Older", "next", 1);
    return h("section", { class: "stack-wide" },
      h("div", { class: "view-head" },
        h("h1", { class: "view-title" }, "Catalog"),
        h("button", { class: "button button-main", type: "button", on: { click: () => this.editor.create() } }, icon("plus"), "New product")),
      h("div", { class: "toolbar", role: "search" },
        h("div", { class: "toolbar-grow" }, h("label", { class: "visually-hidden", for: "filter" }, "Find products"), this.filter),
        h("div", {}, h("label", { class: "visually-hidden", for: "shown" }, "Which products"), this.shown),
        h("div", {}, h("label", { class: "visually-hidden", for: "catalog-sort" }, "Sort by"), this.sort),
        this.filters.button, this.summary),
      this.filters.chips,
      this.notice, this.table,
      h("nav", { class: "pager", "aria-label": "Pages" }, this.before, this.after),
      this.bulk.element);
  }

  #pager(text, kind, step) {
    const go = () => {
      this.#go({ page: this.state.page + step });
      this.element.scrollIntoView({ block: "start" });
    };
    return h("button", { class: `button pager-${kind}`, type: "button", disabled: true, on: { click: go } }, text);
  }

  #show({ products, total, hasNext }) {
    this.products = products;
    this.#learnNames(products);
    this.filters.show(this.state, products);
    fill(this.rows, products.map((product) => this.#row(product)));
    this.before.disabled = this.state.page === 0;
    this.after.disabled = !hasNext;
    const first = this.state.page * ROWS;
    const range = products.length === 0 ? "" : `${number(first + 1)}–${number(first + products.length)}`;
    fill(this.summary, products.length === 0 ? "No products" : total === undefined ? range : `${range} of ${counted(total, "product")}`);
    fill(this.notice, products.length === 0 ? this.#empty() : undefined);
    this.table.hidden = products.length === 0;
    this.#showSelection();
  }

  /// Suggests the names of the attributes that were seen, and sorts by the numbers among them.
  #learnNames(products) {
    const numbers = new Set();
    for (const [name, value] of products.flatMap(({ attributes }) => Object.entries(attributes ?? {}))) {
      this.attributeNames.add(name);
      if (typeof value === "number") numbers.add(name);
    }
    const sorted = this.state.sort.replace("-", "");
    if (sorted !== "" && !SORTS.some(([value]) => value.replace("-", "") === sorted)) numbers.add(sorted);
    const byNumber = [...numbers].sort().flatMap((name) => [[name, `${labelOf(name)}, lowest first`], [`-${name}`, `${labelOf(name)}, highest first`]]);
    fill(this.sort, [...SORTS, ...byNumber].map(([value, text]) => h("option", { value }, text)));
    this.sort.value = this.state.sort;
  }

  #empty() {
    const { text, key, shown, filter } = this.state;
    const filtered = text !== "" || key !== "" || shown !== "all" || !isEmpty(filter);
    return h("div", { class: "empty" },
      h("h2", { class: "empty-title" }, filtered ? "No product fits" : "The catalog is empty"),
      filtered
        ? h("button", { class: "button", type: "button", on: { click: () => this.#go({ text: "", key: "", shown: "all", filter: {} }) } }, "Show all products")
        : h("p", { class: "soft" }, "Create a first product, or ", h("a", { href: "#/import" }, "import a file"), "."));
  }

  #row(product) {
    const check = h("input", {
      type: "checkbox", checked: this.selected.has(product.id), "aria-label": `Select ${product.title}`,
      on: {
        change: () => {
          if (check.checked) this.selected.set(product.id, product.title);
          else this.selected.delete(product.id);
          this.#showSelection();
        },
      },
    });
    const act = (name, label, action, kind = "") => h("button", {
      class: `button button-quiet button-round button-small ${kind}`, type: "button", title: label, "aria-label": `${label}: ${product.title}`, on: { click: action },
    }, icon(name));
    const inferred = inferredLine(product);
    return h("tr", { "data-product": String(product.id), class: product.hidden ? "is-hidden" : "" },
      h("td", { class: "cell-check" }, check),
      h("td", { class: "cell-picture" }, picture(product)),
      h("td", { class: "cell-title" },
        h("button", { class: "link", type: "button", dir: "auto", on: { click: () => this.editor.edit(product.id) } }, product.title),
        h("span", { class: "row-about soft", dir: "auto" }, product.description),
        product.key || product.attributes ? h("span", { class: "row-attributes", dir: "auto" }, product.key ? [h("code", {}, product.key), " "] : undefined, attributesLine(product.attributes)) : undefined,
        inferred === "" ? undefined : h("span", { class: "row-attributes row-inferred", title: "Read in the product’s texts by the service" }, h("span", { class: "row-mark" }, "Inferred"), inferred)),
      h("td", { class: "cell-price price" }, product.price),
      h("td", { class: "cell-state" }, product.hidden ? h("span", { class: "badge badge-hidden" }, "Hidden") : h("span", { class: "badge" }, "Visible")),
      h("td", { class: "cell-when soft" }, when(product.updated_at)),
      h("td", { class: "cell-actions" },
        act("edit", "Edit", () => this.editor.edit(product.id)),
        act(product.hidden ? "eye" : "hide", product.hidden ? "Show" : "Hide", () => this.#setHidden(product, !product.hidden)),
        act("bin", "Delete", () => this.#delete(product), "is-bad")));
  }

  async #setHidden(product, hidden) {
    await this.#try(async () => {
      await this.api.call("PUT", `/products/${product.id}`, { body: { hidden } });
      say(hidden ? "Hidden from shoppers." : "Shown to shoppers.");
    });
  }

  async #delete(product) {
    const sure = await confirmed({ title: "Delete this product?", text: `“${product.title}” leaves the shop for good.`, action: "Delete" });
    if (!sure) return;
    await this.#try(async () => {
      await this.api.call("DELETE", `/products/${product.id}`);
      this.selected.delete(product.id);
      say("Deleted.");
    });
  }

  async #try(action) {
    try {
      await action();
    } catch (error) {
      say(told(error), "bad");
    }
    await this.load();
  }

  #selectAll(selected) {
    for (const product of this.products) {
      if (selected) this.selected.set(product.id, product.title);
      else this.selected.delete(product.id);
    }
    for (const check of this.rows.querySelectorAll('input[type="checkbox"]')) check.checked = selected;
    this.#showSelection();
  }

  #showSelection() {
    const here = this.products.filter(({ id }) => this.selected.has(id)).length;
    this.all.checked = here > 0 && here === this.products.length;
    this.all.indeterminate = here > 0 && here < this.products.length;
    this.bulk.show(() => {
      for (const check of this.rows.querySelectorAll('input[type="checkbox"]')) check.checked = false;
      this.#showSelection();
    });
  }
}
