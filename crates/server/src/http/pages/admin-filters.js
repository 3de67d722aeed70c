// The filters of the catalog: a button, a drawer with a key and facets, and chips of what is filtered by.

import { Drawer } from "./drawer.js";
import { fill, h, icon } from "./dom.js";
import { FacetPanel } from "./facets.js";
import { facetNames, filterChips, learnCategories, withFilterNames } from "./filters.js";
import { searchOf } from "./listing.js";

/// The most values of a facet.
const FACET_VALUES = 60;

export class CatalogFilters {
  #latest = 0;

  /// `onChange` is called with changes of the view's state: `{ key }` or `{ filter }`.
  constructor({ api, onChange }) {
    Object.assign(this, { api, onChange });
    this.state = { filter: {}, key: "" };
    this.count = h("span", { class: "filter-count", hidden: true });
    this.button = h("button", { class: "button", type: "button", "aria-haspopup": "dialog", on: { click: () => this.#open() } }, icon("filter"), "Filters", this.count);
    this.chips = h("ul", { class: "chips", "aria-label": "Conditions", hidden: true });
    this.key = h("input", { class: "field-input", id: "filter-key", type: "text", autocomplete: "off", spellcheck: "false", maxlength: "100", on: { change: () => onChange({ key: this.key.value.trim() }) } });
    this.panel = new FacetPanel({ element: h("div", { class: "facets" }), onChange: (filter) => onChange({ filter }) });
    this.clear = h("button", { class: "button", type: "button", on: { click: () => onChange({ key: "", filter: {} }) } }, "Clear all");
    const done = h("button", { class: "button button-main", type: "button", on: { click: () => this.drawer.close() } }, "Done");
    this.drawer = new Drawer({
      title: "Filters", foot: [this.clear, done], onlyNarrow: false,
      content: h("div", { class: "stack" },
        h("div", { class: "field" }, h("label", { class: "field-label", for: "filter-key" }, "Key"), this.key),
        this.panel.element),
    });
  }

  /// Shows the conditions of the state, whose page has these products.
  show(state, products) {
    Object.assign(this, { state, products });
    const { key, filter } = state;
    learnCategories(products, this.panel.categories);
    const chips = [
      ...(key === "" ? [] : [{ label: `Key: ${key}`, changes: { key: "" } }]),
      ...filterChips(filter, this.panel.categories).map(({ label, without }) => ({ label, changes: { filter: without } })),
    ];
    this.key.value = key;
    this.clear.disabled = chips.length === 0;
    this.count.hidden = chips.length === 0;
    fill(this.count, String(chips.length), h("span", { class: "visually-hidden" }, " active"));
    this.chips.hidden = chips.length === 0;
    fill(this.chips, chips.map(({ label, changes }) => h("li", {},
      h("button", { class: "chip chip-filter", type: "button", "aria-label": `Remove: ${label}`, on: { click: () => this.#remove(changes) } }, h("span", { dir: "auto" }, label), icon("close")))));
    if (this.drawer.dialog.open) this.#count();
  }

  #remove(changes) {
    this.button.focus();
    this.onChange(changes);
  }

  #open() {
    this.names = undefined;
    this.drawer.open();
    this.#count();
  }

  /// Counts the facets; while the drawer is open, they stay the same.
  async #count() {
    const { state } = this;
    const mine = (this.#latest += 1);
    const names = withFilterNames(this.names ?? facetNames(this.products, state.filter), state.filter);
    this.names = names;
    try {
      const { facets, facets_are_exact: exact } = await this.api.post("/search", { ...searchOf(state), limit: 1, facets: names, facet_limit: FACET_VALUES });
      if (mine === this.#latest) this.panel.show({ facets, names, filter: state.filter, exact });
    } catch {
      // The table reports what is wrong with the same conditions.
    }
  }
}
