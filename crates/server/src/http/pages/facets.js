// The facets of a search as controls: checkboxes for values, radio buttons for booleans, ranges with a
// histogram for numbers and prices.

import { labelOf, rangeText, valueText } from "./attributes.js";
import { fill, h } from "./dom.js";
import { folded, rangeOf, toggled, withCondition } from "./filters.js";
import { text } from "./texts.js";
import { amount, number } from "./words.js";

/// Values of a facet before the rest is asked for.
const FIRST_VALUES = 7;

export class FacetPanel {
  /// The names whose values are all shown.
  #opened = new Set();
  /// The names of categories by id, as far as they were seen.
  categories = new Map();

  /// `onChange(filter)` is called with the filter that the user wants.
  constructor({ element, onChange }) {
    Object.assign(this, { element, onChange });
  }

  /// Shows the facets that have something to choose, in this order of names.
  show({ facets = {}, names, filter, exact = true }) {
    this.filter = filter;
    const focus = this.#focused();
    const groups = names.map((name) => this.#facet(name, facets[name])).filter(Boolean);
    fill(this.element,
      groups.length > 0 ? groups : h("p", { class: "hint" }, text("filters.none")),
      exact || groups.length === 0 ? undefined : h("p", { class: "hint" }, text("filters.estimates")));
    this.#restore(focus);
    this.last = { facets, names, filter, exact };
  }

  /// A new filter takes effect with the next response; until then, the control shows it.
  #change(filter) {
    this.filter = filter;
    this.onChange(filter);
  }

  #facet(name, facet) {
    if (facet === undefined) return undefined;
    if (name === "price") return this.#price(facet);
    if (name === "category") return this.#category(facet);
    const parts = [this.#values(name, facet), this.#booleans(name, facet), this.#numbers(name, facet)].filter(Boolean);
    return parts.length === 0 ? undefined : group(labelOf(name), parts);
  }

  #values(name, facet) {
    const chosen = Array.isArray(this.filter[name]) ? this.filter[name] : [];
    const values = (facet.values ?? []).filter(({ value }) => typeof value === "string");
    const known = new Set(values.map(({ value }) => folded(value)));
    // A value that no product has any more can still be removed.
    const all = [...values, ...chosen.filter((value) => !known.has(folded(value))).map((value) => ({ value, count: 0 }))];
    if (all.length === 0 || (all.length === 1 && chosen.length === 0 && !facet.missing)) return undefined;
    const isOn = ({ value }) => chosen.some((other) => folded(other) === folded(value));
    const isShort = all.length <= FIRST_VALUES + 1 || this.#opened.has(name);
    const shown = isShort ? all : all.filter((value, place) => place < FIRST_VALUES || isOn(value));
    return [
      h("ul", { class: "facet-values" }, shown.map((value) => this.#value(name, value, isOn(value)))),
      all.length > FIRST_VALUES + 1 ? this.#more(name, all.length) : undefined,
    ];
  }

  #value(name, { value, count }, checked) {
    const change = (event) => this.#change(toggled(this.filter, name, value, event.target.checked));
    const input = h("input", { type: "checkbox", checked, "data-control": `${name}=${value}`, on: { change } });
    return h("li", {}, h("label", { class: "facet-value" }, input, h("span", { class: "facet-text", dir: "auto" }, value), counted(count)));
  }

  #more(name, count) {
    const isOpen = this.#opened.has(name);
    const toggle = () => {
      if (isOpen) this.#opened.delete(name);
      else this.#opened.add(name);
      this.show(this.last);
    };
    const label = isOpen ? text("filters.fewer") : text("filters.all", { count });
    return h("button", {
      class: "facet-more", type: "button", "aria-expanded": String(isOpen), "aria-label": text("chips.attribute", { name: label, values: labelOf(name) }), "data-control": `${name} more`, on: { click: toggle },
    }, label);
  }

  #booleans(name, facet) {
    const values = (facet.values ?? []).filter(({ value }) => typeof value === "boolean");
    const chosen = typeof this.filter[name] === "boolean" ? this.filter[name] : undefined;
    if (chosen === undefined && (values.length === 0 || (values.length === 1 && !facet.missing))) return undefined;
    const counts = new Map(values.map(({ value, count }) => [value, count]));
    const choice = (value, label, count) => {
      const change = () => this.#change(withCondition(this.filter, name, value));
      const input = h("input", { type: "radio", name: `facet-${name}`, checked: value === chosen, "data-control": `${name}=${value}`, on: { change } });
      return h("li", {}, h("label", { class: "facet-value" }, input, h("span", { class: "facet-text" }, label), count === undefined ? undefined : counted(count)));
    };
    const rest = [true, false].filter((value) => counts.has(value) || value === chosen);
    return h("ul", { class: "facet-values" }, choice(undefined, text("filters.any")), rest.map((value) => choice(value, valueText(value), counts.get(value) ?? 0)));
  }

  /// The way down to the chosen category, and those below it. One is chosen at a time.
  #category({ values, missing }) {
    for (const { id, label } of values) this.categories.set(id, label);
    const all = this.filter.category ?? [];
    const chosen = all.length === 1 ? all[0] : undefined;
    if (all.length === 0 && (values.length === 0 || (values.length === 1 && !missing))) return undefined;
    const choice = (id, label, count) => {
      const change = () => this.#change(withCondition(this.filter, "category", id && [id]));
      const checked = id === chosen && (id !== undefined || all.length === 0);
      const input = h("input", { type: "radio", name: "facet-category", checked, "data-control": `category=${id ?? ""}`, on: { change } });
      return h("li", {}, h("label", { class: "facet-value" }, input, h("span", { class: "facet-text", dir: "auto" }, label), count === undefined ? undefined : counted(count)));
    };
    const way = chosen === undefined ? [] : above(chosen);
    return group(labelOf("category"), h("ul", { class: "facet-values" },
      choice(undefined, text("filters.all-categories")),
      way.map((id) => choice(id, this.categories.get(id) ?? id)),
      values.filter(({ id }) => !way.includes(id)).map(({ id, label, count }) => choice(id, label, count))));
  }

  #numbers(name, facet) {
    const chosen = isRange(this.filter[name]) ? this.filter[name] : undefined;
    if (!chosen && (facet.min === undefined || facet.min === facet.max)) return undefined;
    const apply = (min, max) => this.#change(withCondition(this.filter, name, rangeOf(toNumber(min), toNumber(max))));
    return this.#range({ name, facet, chosen, apply, show: valueText });
  }

  #price(currencies) {
    const chosen = this.filter.price;
    const of = (wanted) => currencies.find(({ currency }) => currency === wanted);
    const facet = of(chosen ? chosen.currency : this.currency) ?? currencies[0];
    if (!chosen && (facet === undefined || (currencies.length === 1 && facet.min === facet.max))) return undefined;
    // A range without currency, which a shared address may have, applies to every currency.
    const currency = chosen ? chosen.currency : facet.currency;
    const apply = (min, max) => {
      const range = rangeOf(toAmount(min), toAmount(max));
      this.#change(withCondition(this.filter, "price", range && (currency ? { ...range, currency } : range)));
    };
    return group(labelOf("price"), [
      currencies.length > 1 ? this.#currencies(currencies, currency) : undefined,
      this.#range({ name: "price", facet: facet ?? {}, chosen, apply, show: (value) => amount(String(value).replace(/(\.\d)$/u, "$10"), currency), unit: currency }),
    ]);
  }

  /// Amounts of several currencies cannot be compared: one is chosen first.
  #currencies(currencies, current) {
    const codes = currencies.map(({ currency }) => currency);
    const all = current && !codes.includes(current) ? [...codes, current] : codes;
    const change = (event) => {
      this.currency = event.target.value;
      if (this.filter.price) this.#change(withCondition(this.filter, "price", { ...this.filter.price, currency: this.currency }));
      else this.show(this.last);
    };
    return h("label", { class: "facet-currency" }, h("span", { class: "visually-hidden" }, text("filters.currency")),
      h("select", { class: "field-input field-compact", "data-control": "price currency", value: current ?? codes[0], on: { change } }, all.map((code) => h("option", { value: code }, code))));
  }

  #range({ name, facet, chosen, apply, show, unit }) {
    const ends = ["min", "max"].map((end) => {
      const label = end === "min" ? "filters.from" : "filters.to";
      const input = h("input", {
        class: "field-input field-compact", type: "number", step: "any", min: name === "price" ? "0" : undefined, inputmode: "decimal", autocomplete: "off",
        placeholder: facet[end] === undefined ? "" : String(facet[end]), value: chosen?.[end] ?? "", "aria-label": unit ? `${text(label)}, ${unit}` : text(label), "data-control": `${name} ${end}`,
        on: {
          change: () => {
            input.dataset.applied = input.value;
            apply(ends[0].value, ends[1].value);
          },
        },
      });
      return input;
    });
    return [
      histogram(facet.histogram, chosen),
      h("div", { class: "facet-range" }, ends[0], h("span", { "aria-hidden": "true" }, "–"), ends[1]),
      facet.min === undefined ? undefined : h("p", { class: "hint" }, rangeText(facet, show)),
    ];
  }

  #focused() {
    const focus = document.activeElement;
    if (!this.element.contains(focus)) return undefined;
    const isTyping = focus.type === "number" && focus.value !== (focus.dataset.applied ?? focus.defaultValue);
    return { control: focus.dataset.control, typed: isTyping ? focus.value : undefined };
  }

  /// Returns the focus, and what is being typed, to the control that replaces the one that had it.
  #restore(focus) {
    if (focus?.control === undefined) return;
    const controls = [...this.element.querySelectorAll("[data-control]")];
    const same = controls.find(({ dataset }) => dataset.control === focus.control);
    if (focus.typed !== undefined && same) same.value = focus.typed;
    same?.focus({ preventScroll: true });
  }
}

function group(title, parts) {
  return h("fieldset", { class: "facet" }, h("legend", { class: "facet-title" }, title), parts);
}

function counted(count) {
  return h("span", { class: "facet-count" }, number(count), h("span", { class: "visually-hidden" }, ` ${text("results.unit", { count })}`));
}

/// The ids from the root down to this one.
function above(id) {
  const parts = id.split("-");
  return parts.map((_, place) => parts.slice(0, place + 1).join("-"));
}

const isRange = (condition) => condition !== undefined && typeof condition === "object" && !Array.isArray(condition);

function toNumber(text) {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

function toAmount(text) {
  return /^\d{1,15}(?:\.\d{1,6})?$/.test(text.trim()) ? text.trim() : undefined;
}

/// Bars of equal width; those outside of the chosen range are pale.
function histogram(buckets = [], chosen) {
  if (buckets.length < 2) return undefined;
  const most = Math.max(...buckets.map(({ count }) => count), 1);
  const bars = buckets.map(({ from, to, count }, place) => {
    const height = count === 0 ? 0 : Math.max((count / most) * 28, 2);
    const isOut = (chosen?.min !== undefined && Number(to) < Number(chosen.min)) || (chosen?.max !== undefined && Number(from) > Number(chosen.max));
    return h("rect", { class: isOut ? "histogram-out" : "histogram-bar", x: String(place * 10 + 0.5), y: String(30 - height), width: "9", height: String(height) });
  });
  return h("svg", { class: "histogram", viewBox: `0 0 ${buckets.length * 10} 30`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" }, bars);
}
