// The texts of the pages in the current language, and its formats. English unless the page chooses
// another one.

import en from "./texts-en.js";

let current;

/// Makes these the texts of the page; `locale` is the language with the user's region, such as `de-CH`.
export function useTexts(texts, locale) {
  current = { texts, locale, plurals: new Intl.PluralRules(locale), numbers: new Map() };
}

useTexts(en, "en");

export const locale = () => current.locale;

/// A format for numbers with these options of `Intl.NumberFormat`.
export function numberFormat(options = {}) {
  const key = JSON.stringify(options);
  if (!current.numbers.has(key)) current.numbers.set(key, new Intl.NumberFormat(current.locale, options));
  return current.numbers.get(key);
}

/// The text of this key with its values; numbers are formatted, and `count` decides the plural form.
export function text(key, values) {
  return textParts(key, values).join("");
}

/// The same in pieces, for values that are elements.
export function textParts(key, values = {}) {
  const found = textOf(key);
  if (found === undefined) throw new Error(`there is no text ${key}`);
  const pattern = typeof found === "string" ? found : found[current.plurals.select(values.count)] ?? found.other;
  const value = (name) => (typeof values[name] === "number" ? numberFormat().format(values[name]) : values[name]);
  return pattern.split(/\{(\w+)\}/u).map((part, place) => (place % 2 === 1 ? value(part) : part));
}

/// What the language has under this key, a text, its plural forms or a list; `undefined` if nothing.
export function textOf(key) {
  return Object.hasOwn(current.texts, key) ? current.texts[key] : undefined;
}
