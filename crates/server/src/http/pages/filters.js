// Filters as the search request has them: kept in the URL, shown as chips, and the choice of facets to
// ask for. A filter is never changed in place.

import { labelOf, rangeText, valueText } from "./attributes.js";
import { text } from "./texts.js";
import { amount } from "./words.js";

const NAME = /^[a-z][a-z0-9_]{0,39}$/;
const AMOUNT = /^\d{1,15}(?:\.\d{1,6})?$/;
/// The most values of one condition that the API accepts.
const MOST_VALUES = 50;
/// The most attributes that the pages show facets of.
const MOST_FACETS = 8;
/// The most facets of a request.
const FACET_LIMIT = 20;

export const isEmpty = (filter) => Object.keys(filter).length === 0;

/// The filter in the parameters of a URL: `f.color=red`, `b.washable=true`, `n.width_cm=100..200`,
/// `price=10..49.99` with `currency=USD`. What cannot be read is left out.
export function readFilter(params) {
  const filter = {};
  for (const [key, value] of params) {
    const [kind, name] = [key.slice(0, 2), key.slice(2)];
    if (!NAME.test(name) || filter[name] !== undefined) continue;
    if (kind === "f.") filter[name] = [...new Set(params.getAll(key))].filter((text) => text !== "").slice(0, MOST_VALUES);
    else if (kind === "b." && ["true", "false"].includes(value)) filter[name] = value === "true";
    else if (kind === "n.") filter[name] = readRange(value, (text) => (Number.isFinite(Number(text)) ? Number(text) : undefined));
    if (filter[name] === undefined || filter[name].length === 0) delete filter[name];
  }
  const price = readRange(params.get("price") ?? "", (text) => (AMOUNT.test(text) ? text : undefined));
  const currency = params.get("currency") ?? "";
  if (price) filter.price = /^[A-Z]{3}$/.test(currency) ? { ...price, currency } : price;
  return filter;
}

function readRange(text, read) {
  const parts = text.split("..");
  if (parts.length !== 2) return undefined;
  const [min, max] = parts.map((part) => (part === "" ? undefined : read(part)));
  return rangeOf(min, max);
}

/// Adds the filter to the parameters of a URL.
export function writeFilter(filter, params) {
  const range = ({ min, max }) => `${min ?? ""}..${max ?? ""}`;
  for (const [name, condition] of Object.entries(filter)) {
    if (name === "price") {
      params.set("price", range(condition));
      if (condition.currency) params.set("currency", condition.currency);
    } else if (Array.isArray(condition)) {
      for (const value of condition) params.append(`f.${name}`, value);
    } else if (typeof condition === "boolean") {
      params.set(`b.${name}`, String(condition));
    } else {
      params.set(`n.${name}`, range(condition));
    }
  }
}

/// A range of numbers or amounts with its ends in order; `undefined` without ends.
export function rangeOf(min, max) {
  if (min === undefined && max === undefined) return undefined;
  const inOrder = min === undefined || max === undefined || Number(min) <= Number(max);
  const [low, high] = inOrder ? [min, max] : [max, min];
  return { ...(low === undefined ? {} : { min: low }), ...(high === undefined ? {} : { max: high }) };
}

/// The filter with another condition on `name`; `undefined` and an empty list remove it.
export function withCondition(filter, name, condition) {
  const { [name]: _, ...rest } = filter;
  const removed = condition === undefined || (Array.isArray(condition) && condition.length === 0);
  return removed ? rest : { ...rest, [name]: condition };
}

/// Filters compare strings after Unicode folding; this is close enough to tell which box is checked.
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/// The filter with a value of an attribute switched on or off.
export function toggled(filter, name, value, on) {
  const before = Array.isArray(filter[name]) ? filter[name] : [];
  const others = before.filter((other) => folded(other) !== folded(value));
  return withCondition(filter, name, on ? [...others, value] : others);
}

/// One chip for each value, boolean and range: `{ kind, label, without }`, where `without` is the
/// filter without it. `categories` has the names of categories by id.
export function filterChips(filter, categories = new Map()) {
  return Object.entries(filter).flatMap(([name, condition]) => {
    const chip = (values, without) => ({ kind: "filter", label: text("chips.attribute", { name: labelOf(name), values }), without });
    if (name === "price") {
      const range = rangeText(condition, (value) => amount(value, condition.currency));
      return [chip(range, withCondition(filter, name))];
    }
    const named = (value) => (name === "category" ? categories.get(value) ?? value : value);
    if (Array.isArray(condition)) return condition.map((value) => chip(named(value), toggled(filter, name, value, false)));
    const plain = typeof condition === "boolean" ? valueText(condition).toLowerCase() : rangeText(condition);
    return [chip(plain, withCondition(filter, name))];
  });
}

/// The facets to ask for: the category if products have one, price, what is filtered by, and the
/// attributes that most of these products have, stated or inferred. An attribute of a single product divides nothing and is left out of a longer list.
export function facetNames(products, filter) {
  const counts = new Map();
  for (const product of products) {
    for (const name of Object.keys({ ...product.attributes, ...product.inferred_attributes })) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const least = products.length < 4 ? 1 : 2;
  const frequent = [...counts].filter(([, count]) => count >= least).sort(([, a], [, b]) => b - a);
  const first = products.some(({ category }) => category) ? ["category", "price"] : ["price"];
  const names = [...first, ...frequent.slice(0, MOST_FACETS).map(([name]) => name)];
  return withFilterNames(names, filter);
}

/// These names and those that the filter has, as many as a request may ask for.
export function withFilterNames(names, filter) {
  return [...new Set([...names, ...Object.keys(filter)])].slice(0, FACET_LIMIT);
}

/// Adds the names of these products' categories and of all above them, by id: `aa-1` is above `aa-1-4`.
export function learnCategories(products, categories) {
  for (const { category } of products) {
    if (!category) continue;
    const parts = category.id.split("-");
    category.path.forEach((name, place) => categories.set(parts.slice(0, place + 1).join("-"), name));
  }
}
