// Formats numbers, amounts, durations and times in the current language.

import { locale, numberFormat } from "./texts.js";

/// `1,234`
export function number(value) {
  return numberFormat().format(value);
}

/// `1 product`, `1,234 products`
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/// An exact decimal with its currency: `$40`, `€1,299.50`, `40`.
export function amount(decimal, currency) {
  const digits = decimal.includes(".") ? decimal.split(".")[1].length : 0;
  if (!currency) return numberFormat(withDigits(digits)).format(decimal);
  try {
    return numberFormat({ ...withDigits(digits), style: "currency", currency, currencyDisplay: "narrowSymbol" }).format(decimal);
  } catch {
    return `${decimal} ${currency}`;
  }
}

const withDigits = (digits) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits });

const SIGNS = { $: "USD", "€": "EUR", "£": "GBP" };

/// A merchant's price in the format of the language, `$1,299.00` as `1.299,00 $`; as it is where it is
/// written in any other way.
export function price(written) {
  const [, sign, digits] = written.match(/^([$€£])(\d{1,3}(?:,\d{3})*(?:\.\d{2})?)$/u) ?? [];
  return sign === undefined ? written : amount(digits.replaceAll(",", ""), SIGNS[sign]);
}

/// `8 ms`, `1.4 s`
export function duration(milliseconds) {
  const fixed = (value, digits) => numberFormat(withDigits(digits)).format(value);
  if (milliseconds < 1) return `${fixed(milliseconds, 2)} ms`;
  if (milliseconds < 10) return `${fixed(milliseconds, 1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${fixed(milliseconds / 1000, 1)} s`;
  if (milliseconds >= 86_400_000) return `${Math.floor(milliseconds / 86_400_000)} d ${Math.floor((milliseconds % 86_400_000) / 3_600_000)} h`;
  if (milliseconds >= 3_600_000) return `${Math.floor(milliseconds / 3_600_000)} h ${Math.floor((milliseconds % 3_600_000) / 60_000)} min`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

/// `640 B`, `12.5 MB`
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = count;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const MOMENT = { dateStyle: "medium", timeStyle: "short" };

/// A timestamp of the API in the user's format.
export function when(timestamp) {
  return timestamp ? new Intl.DateTimeFormat(locale(), MOMENT).format(new Date(timestamp)) : "never";
}
