// Names and values of attributes as people read them. Pure functions.

const UNITS = {
  mm: "mm", cm: "cm", m: "m", km: "km", inch: "inches", inches: "inches", g: "g", kg: "kg", l: "l", ml: "ml",
  w: "W", kw: "kW", v: "V", a: "A", mah: "mAh", wh: "Wh", gb: "GB", tb: "TB", hz: "Hz", db: "dB", lm: "lm",
  minutes: "minutes", hours: "hours", days: "days", months: "months", years: "years", percent: "%",
};

/// `width_cm` as `Width (cm)`, `age_from` as `Age from`.
export function labelOf(name) {
  const words = name.split("_").filter((word) => word !== "");
  const unit = words.length > 1 ? UNITS[words.at(-1)] : undefined;
  const text = (unit ? words.slice(0, -1) : words).join(" ");
  const label = text.charAt(0).toUpperCase() + text.slice(1);
  return unit ? `${label} (${unit})` : label;
}

// Years and article numbers have no separator.
const plainNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 15, useGrouping: "min2" });

/// A value of any type: `218`, `Yes`, `navy, white`.
export function valueText(value) {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return typeof value === "number" ? plainNumber.format(value) : String(value);
}

/// All attributes of a product in one line: `Color: navy · Width (cm): 218`.
export function attributesLine(attributes = {}) {
  return Object.entries(attributes).map(([name, value]) => `${labelOf(name)}: ${valueText(value)}`).join(" · ");
}

/// `Furniture › Chairs`
export function categoryText({ path }) {
  return path.join(" › ");
}

/// What the service read in the product's texts, in one line: `Furniture › Chairs · Color: blue`.
export function inferredLine({ category, inferred_attributes: inferred }) {
  return [category && categoryText(category), attributesLine(inferred)].filter(Boolean).join(" · ");
}

/// `100 to 200`, `100 or more`, `up to 200`.
export function rangeText({ min, max }, show = valueText) {
  if (min === undefined) return `up to ${show(max)}`;
  return max === undefined ? `${show(min)} or more` : `${show(min)} to ${show(max)}`;
}
