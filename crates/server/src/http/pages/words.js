// Formats numbers, amounts, durations and times. Pure functions.

const whole = new Intl.NumberFormat("en");

/// `1,234`
export function number(value) {
  return whole.format(value);
}

/// `1 product`, `1,234 products`
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/// An exact decimal with its currency: `$40`, `€1,299.50`, `40`.
export function amount(decimal, currency) {
  const digits = decimal.includes(".") ? decimal.split(".")[1].length : 0;
  const plain = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (!currency) return new Intl.NumberFormat("en", plain).format(decimal);
  try {
    const style = { ...plain, style: "currency", currency, currencyDisplay: "narrowSymbol" };
    return new Intl.NumberFormat("en", style).format(decimal);
  } catch {
    return `${decimal} ${currency}`;
  }
}

/// `8 ms`, `1.4 s`
export function duration(milliseconds) {
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
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

const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/// A timestamp of the API in the user's format.
export function when(timestamp) {
  return timestamp ? moment.format(new Date(timestamp)) : "never";
}
