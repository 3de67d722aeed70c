// Builds elements. Text is only ever inserted as text nodes, and attributes that are not listed here
// throw, so that no product data can run as code.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "rect", "circle", "line", "polyline", "polygon", "text", "ellipse"]);

const ATTRIBUTES = new Set([
  "accept", "alt", "autocomplete", "autocapitalize", "class", "cols", "colspan", "d", "cx", "cy", "dir", "download",
  "enterkeyhint", "fill", "focusable", "for", "height", "id", "inputmode", "lang", "list", "loading", "decoding", "max",
  "maxlength", "method", "min", "name", "pattern", "placeholder", "points", "preserveAspectRatio", "r", "rel", "role",
  "rows", "rx", "ry", "scope", "sizes", "spellcheck", "step", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin",
  "tabindex", "text-anchor", "title", "transform", "type", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
]);
const ADDRESSES = new Set(["href", "src"]);
const PROPERTIES = new Set([
  "autofocus", "checked", "disabled", "hidden", "indeterminate", "multiple", "open", "readOnly", "required",
  "selected", "value",
]);

/// Creates an element. `props` holds attributes, `on` (listeners by event) and `style` (by property).
export function h(tag, props, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  const late = [];
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else if (PROPERTIES.has(name)) {
      late.push([name, value]);
    } else if (ADDRESSES.has(name)) {
      if (isSafeAddress(value)) element.setAttribute(name, value);
    } else if (ATTRIBUTES.has(name) || name.startsWith("aria-") || name.startsWith("data-")) {
      if (value !== false) element.setAttribute(name, value === true ? "" : value);
    } else {
      throw new TypeError(`${name} is not an attribute that pages set`);
    }
  }
  put(element, children);
  // A select accepts a value only after its options exist.
  for (const [name, value] of late) element[name] = value;
  return element;
}

/// Replaces the children of an element.
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/// Whether a URL is a page or a picture, not a script.
export function isSafeAddress(address) {
  if (/^(?:#|\/(?!\/))/.test(address) || address.startsWith("blob:")) return true;
  try {
    return ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

/// The element with this id in the page's HTML.
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/// A line drawing of 20 by 20 units, in the colour of the text around it.
export function icon(name) {
  const lines = ICONS[name].map((d) => h("path", { d }));
  return h("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, lines);
}

const ICONS = {
  search: ["M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Z", "m13.5 13.5 4 4"],
  close: ["m5 5 10 10", "M15 5 5 15"],
  more: ["M10 4v12", "m5 11 5 5 5-5"],
  sparkle: ["M10 3v4", "M10 13v4", "M3 10h4", "M13 10h4"],
  back: ["M16 10H4", "m9 5-5 5 5 5"],
  basket: ["M3 8h14l-1.4 8.2H4.4L3 8Z", "m7 8 2-5", "m13 8-2-5"],
  screen: ["M3 4h14v9H3z", "M7 17h6", "M10 13v4"],
  book: ["M4 4h5l1 1 1-1h5v11h-5l-1 1-1-1H4z", "M10 5v11"],
  plus: ["M10 4v12", "M4 10h12"],
  edit: ["m4 16 1-4 8-8 3 3-8 8z"],
  eye: ["M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5Z", "M10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z"],
  hide: ["M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5Z", "M3 17 17 3"],
  bin: ["M4 6h12", "M8 6V4h4v2", "M6 6l.7 10h6.6L14 6"],
  upload: ["M10 14V4", "m6 8 4-4 4 4", "M4 17h12"],
  download: ["M10 4v10", "m6 10 4 4 4-4", "M4 17h12"],
  key: ["M7 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z", "M10 10h7v3", "M14 10v2"],
  chart: ["M3 17h14", "m4 13 4-5 3 3 5-7"],
  list: ["M4 5h12", "M4 10h12", "M4 15h12"],
  copy: ["M7 7h9v9H7z", "M4 13V4h9"],
  leave: ["M8 4H4v12h4", "M8 10h9", "m13 6 4 4-4 4"],
  warning: ["M10 3 2 17h16L10 3Z", "M10 8v4", "M10 14.5v.5"],
  done: ["m4 10 4 4 8-9"],
  filter: ["M3 6h14", "M6 10h8", "M8.5 14h3"],
  out: ["M11 4h5v5", "m16 4-7 7", "M14 11v5H4V6h5"],
};
