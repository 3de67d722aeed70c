// The interpreted parts of a query as removable chips. Spans count Unicode scalar values, as the API
// does.

import { labelOf } from "./attributes.js";
import { locale, text } from "./texts.js";
import { amount } from "./words.js";

const ORDERS = { price_ascending: "chips.cheapest", price_descending: "chips.dearest", newest: "chips.newest" };

/// The parts that can be removed: `{ kind, label, without }`, where `without` is the request without
/// the part. Those of the kind `inferred` are switched off together; `isWish` tells those that decide
/// the order alone, and leave nothing out.
export function chipsOf(query, understood, understand = {}) {
  const chips = [];
  for (const correction of understood.corrections) {
    chips.push({
      kind: "correction",
      label: text("chips.correction", correction),
      without: { query, understand: { ...understand, corrections: false } },
    });
  }
  for (const constraint of understood.constraints) {
    chips.push({ kind: "price", label: priceLabel(constraint), without: { query: cut(query, [constraint.span]), understand } });
  }
  understood.exclusions.forEach((exclusion, place) => {
    const rest = withoutExclusion(query, understood.exclusions, place);
    chips.push({ kind: "exclusion", label: text("chips.not", { words: spoken(exclusion) }), without: { query: rest, understand } });
  });
  if (understood.sort) {
    const order = ORDERS[understood.sort.order];
    chips.push({
      kind: "sort",
      label: order ? text(order) : understood.sort.text,
      without: { query: cut(query, [understood.sort.span]), understand },
    });
  }
  return [...chips, ...inferredChips(query, understood, understand)];
}

/// What the thing should be and have.
function inferredChips(query, { attributes = [], category }, understand) {
  const without = { query, understand: { ...understand, attributes: false } };
  const chip = (label, isWish) => ({ kind: "inferred", label, isWish, without });
  return [
    ...(category ? [chip(category.path.at(-1), true)] : []),
    ...attributes.map(({ required, ...attribute }) => chip(attributeLabel(attribute, required), !required)),
  ];
}

function attributeLabel({ name, values }, isOnly) {
  const either = new Intl.ListFormat(locale(), { type: "disjunction" }).format(values);
  return text(isOnly ? "chips.attribute-only" : "chips.attribute", { name: labelOf(name), values: either });
}

/// A short label of a price condition.
export function priceLabel({ operation, value, min, max, currency }) {
  const show = (decimal) => decimal && amount(decimal, currency);
  return text(PRICES[operation], { price: show(value), min: show(min), max: show(max) });
}

const PRICES = {
  below: "chips.below", at_most: "chips.at-most", above: "chips.above", at_least: "chips.at-least",
  between: "chips.between", about: "chips.about",
};

/// The words of an exclusion as they were written; `words` has their index form.
function spoken({ words, text }) {
  const count = words.split(" ").length;
  const written = text.split(/[\s-]+/u).filter((word) => word !== "").slice(-count);
  return written.join(" ") || words;
}

/// The query without the pieces at these spans.
export function cut(query, spans) {
  const characters = [...query];
  const kept = characters.map((character, place) =>
    spans.some(({ start, end }) => place >= start && place < end) ? " " : character);
  return tidy(kept.join(""));
}

/// An exclusion may continue the one before it ("without leather or fur"): the remaining ones are
/// written out in full, with the word that the query has for it.
function withoutExclusion(query, exclusions, place) {
  const group = groupOf(query, exclusions, place);
  if (group.length === 1) return cut(query, [exclusions[place].span]);
  const first = exclusions[group[0]];
  const without = first.text.slice(0, first.text.indexOf(spoken(first))).trim() || "without";
  const rest = group.filter((other) => other !== place).map((other) => `${without} ${spoken(exclusions[other])}`);
  return tidy(`${cut(query, group.map((other) => exclusions[other].span))} ${rest.join(" ")}`);
}

/// The indexes of the exclusions that are adjacent to this one.
function groupOf(query, exclusions, place) {
  const characters = [...query];
  const touch = (a, b) => {
    const between = characters.slice(exclusions[a].span.end, exclusions[b].span.start).join("");
    return /^[\s,]*$/u.test(between);
  };
  const group = [place];
  for (let at = place; at > 0 && touch(at - 1, at); at -= 1) group.unshift(at - 1);
  for (let at = place; at + 1 < exclusions.length && touch(at, at + 1); at += 1) group.push(at + 1);
  return group;
}

const CONJUNCTION = "(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|o)";
const FIRST = new RegExp(`^(?:[\\s,;.]|${CONJUNCTION}\\s)+`, "iu");
const LAST = new RegExp(`(?:[\\s,;]|\\s${CONJUNCTION})+$`, "iu");

/// Collapses spaces, and drops punctuation and conjunctions at both ends.
function tidy(query) {
  return query
    .replace(/\s+/gu, " ")
    .replace(/\s+([,;.])/gu, "$1")
    .replace(/([,;])[,;]+/gu, "$1")
    .replace(FIRST, "")
    .replace(LAST, "")
    .trim();
}
