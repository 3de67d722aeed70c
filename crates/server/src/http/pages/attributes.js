// Names and values of attributes as people read them.

import { numberFormat, text, textOf } from "./texts.js";

const UNITS = {
  mm: "mm", cm: "cm", m: "m", km: "km", g: "g", kg: "kg", l: "l", ml: "ml",
  w: "W", kw: "kW", v: "V", a: "A", mah: "mAh", wh: "Wh", gb: "GB", tb: "TB", hz: "Hz", db: "dB", lm: "lm",
  percent: "%",
};

/// `width_cm` as `Width (cm)`, `age_from` as `Age from`.
export function labelOf(name) {
  const words = name.split("_").filter((word) => word !== "");
  const unit = words.length > 1 ? unitOf(words.at(-1)) : undefined;
  const thing = unit ? words.slice(0, -1) : words;
  const label = textOf(`attribute.${thing.join("_")}`) ?? capitalised(thing.join(" "));
  return unit ? `${label} (${unit})` : label;
}

const unitOf = (word) => UNITS[word] ?? textOf(`unit.${word === "inch" ? "inches" : word}`);

const capitalised = (words) => words.charAt(0).toUpperCase() + words.slice(1);

// Years and article numbers have no separator.
const PLAIN = { maximumFractionDigits: 15, useGrouping: "min2" };

/// A value of any type: `218`, `Yes`, `navy, white`.
export function valueText(value) {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "boolean") return text(value ? "value.yes" : "value.no");
  return typeof value === "number" ? numberFormat(PLAIN).format(value) : String(value);
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
  if (min === undefined) return text("range.to", { max: show(max) });
  return max === undefined ? text("range.from", { min: show(min) }) : text("range.between", { min: show(min), max: show(max) });
}
