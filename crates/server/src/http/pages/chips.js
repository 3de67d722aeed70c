// What was understood of a query, and what is left when a part of it is taken back? Pure functions.
// The service counts characters as Unicode scalar values, and so does everything here.

import { amount } from "./words.js";

const ORDERS = {
  price_ascending: "cheapest first",
  price_descending: "most expensive first",
  newest: "newest first",
};

/// The parts that can be taken back: `{ kind, label, without }`, where `without` is the request
/// that the search is made with instead.
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
  return chips;
}

/// The condition on the price in a few words.
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

/// The words of an exclusion as they were written: `words` has them as the index does.
function spoken({ words, text }) {
  const count = words.split(" ").length;
  const written = text.split(/[\s-]+/u).filter((word) => word !== "").slice(-count);
  return written.join(" ") || words;
}

/// The query without its pieces at these places.
export function cut(query, spans) {
  const characters = [...query];
  const kept = characters.map((character, place) =>
    spans.some(({ start, end }) => place >= start && place < end) ? " " : character);
  return tidy(kept.join(""));
}

/// One exclusion may lean on the one before it ("without leather or fur"): those that are left
/// are said again in full.
function withoutExclusion(query, exclusions, place) {
  const group = groupOf(query, exclusions, place);
  if (group.length === 1) return cut(query, [exclusions[place].span]);
  const rest = group.filter((other) => other !== place).map((other) => `without ${spoken(exclusions[other])}`);
  return tidy(`${cut(query, group.map((other) => exclusions[other].span))} ${rest.join(" ")}`);
}

/// The places of the exclusions that stand together with this one, nothing but space between.
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

/// Single spaces, and no mark or joining word left hanging at an end.
function tidy(query) {
  return query
    .replace(/\s+/gu, " ")
    .replace(/\s+([,;.])/gu, "$1")
    .replace(/([,;])[,;]+/gu, "$1")
    .replace(/^(?:[\s,;.]|(?:and|but|or)\s)+/iu, "")
    .replace(/(?:[\s,;]|\s(?:and|but|or))+$/iu, "")
    .trim();
}
