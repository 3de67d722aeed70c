// The interpreted parts of a query as removable chips. Pure functions. Spans count Unicode scalar
// values, as the API does.

import { labelOf } from "./attributes.js";
import { amount } from "./words.js";

const ORDERS = {
  price_ascending: "cheapest first",
  price_descending: "most expensive first",
  newest: "newest first",
};

/// The parts that can be removed: `{ kind, label, without }`, where `without` is the request without
/// the part. Those of the kind `inferred` are switched off together; `isWish` tells those that decide
/// the order alone, and leave nothing out.
export function chipsOf(query, understood, understand = {}) {
  const chips = [];
  for (const correction of understood.corrections) {
    chips.push({
      kind: "correction",
      label: `showing results for ${correction.to} (instead of ${correction.from})`,
      without: { query, understand: { ...understand, corrections: false } },
    });
  }
  for (const constraint of understood.constraints) {
    chips.push({ kind: "price", label: priceLabel(constraint), without: { query: cut(query, [constraint.span]), understand } });
  }
  understood.exclusions.forEach((exclusion, place) => {
    const rest = withoutExclusion(query, understood.exclusions, place);
    chips.push({ kind: "exclusion", label: `not ${spoken(exclusion)}`, without: { query: rest, understand } });
  });
  if (understood.sort) {
    chips.push({
      kind: "sort",
      label: ORDERS[understood.sort.order] ?? understood.sort.text,
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
    ...attributes.map(({ name, values, required }) => chip(`${required ? "only " : ""}${labelOf(name).toLowerCase()}: ${values.join(" or ")}`, !required)),
  ];
}

/// A short label of a price condition.
export function priceLabel({ operation, value, min, max, currency }) {
  switch (operation) {
    case "below": return `under ${amount(value, currency)}`;
    case "at_most": return `up to ${amount(value, currency)}`;
    case "above": return `over ${amount(value, currency)}`;
    case "at_least": return `${amount(value, currency)} or more`;
    case "between": return `${amount(min, currency)} to ${amount(max, currency)}`;
    case "about": return `about ${amount(min, currency)} to ${amount(max, currency)}`;
    default: return `${operation} ${amount(value ?? `${min} to ${max}`, currency)}`;
  }
}

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
/// written out in full.
function withoutExclusion(query, exclusions, place) {
  const group = groupOf(query, exclusions, place);
  if (group.length === 1) return cut(query, [exclusions[place].span]);
  const rest = group.filter((other) => other !== place).map((other) => `without ${spoken(exclusions[other])}`);
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

/// Collapses spaces, and drops punctuation and conjunctions at both ends.
function tidy(query) {
  return query
    .replace(/\s+/gu, " ")
    .replace(/\s+([,;.])/gu, "$1")
    .replace(/([,;])[,;]+/gu, "$1")
    .replace(/^(?:[\s,;.]|(?:and|but|or)\s)+/iu, "")
    .replace(/(?:[\s,;]|\s(?:and|but|or))+$/iu, "")
    .trim();
}
