// The attributes of a product as rows of a form: name, type and value.

import { fill, h, icon } from "./dom.js";

const TYPES = [["text", "Text"], ["texts", "Several texts"], ["number", "Number"], ["boolean", "Yes or no"]];
const SUGGESTIONS = "attribute-names";

/// The rows of a product's attributes: `{ name, type, value }`, where the value is a string.
export function toRows(attributes = {}) {
  return Object.entries(attributes).map(([name, value]) => {
    if (Array.isArray(value)) return { name, type: "texts", value: value.join("\n") };
    const type = typeof value === "string" ? "text" : typeof value;
    return { name, type, value: String(value) };
  });
}

/// The attributes of these rows, and messages by row for what is none. Blank rows are left out.
export function fromRows(rows) {
  const attributes = {};
  const errors = new Map();
  rows.forEach((row, place) => {
    const name = row.name.trim();
    if (name === "" && (row.value.trim() === "" || row.type === "boolean")) return;
    const value = valueOf(row);
    if (name === "") errors.set(place, "needs a name");
    else if (Object.hasOwn(attributes, name)) errors.set(place, "is there twice");
    else if (value === undefined) errors.set(place, row.type === "number" ? "must be a number, such as 12.5" : "needs a value");
    else attributes[name] = value;
  });
  return { attributes, errors };
}

function valueOf({ type, value }) {
  const text = value.trim();
  if (type === "boolean") return text === "true";
  if (type === "number") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (type === "text") return text === "" ? undefined : value;
  const lines = [...new Set(value.split("\n").filter((line) => line.trim() !== ""))];
  return lines.length === 0 ? undefined : lines;
}

export class AttributeRows {
  /// `names` are suggested for new rows.
  constructor({ rows, names }) {
    this.list = h("ul", { class: "attribute-rows" });
    const add = h("button", { class: "button button-small", type: "button", on: { click: () => this.#add({ name: "", type: "text", value: "" }, true) } }, icon("plus"), "Add attribute");
    this.error = h("p", { class: "field-error" });
    this.element = h("fieldset", { class: "attributes" },
      h("legend", { class: "field-label" }, "Attributes"),
      h("datalist", { id: SUGGESTIONS }, names.map((name) => h("option", { value: name }))),
      this.list, this.error, add);
    this.rows = [];
    for (const row of rows) this.#add(row, false);
  }

  /// What is written in the rows.
  written() {
    return this.rows.map(({ name, type, control }) => ({ name: name.value, type: type.value, value: control.value }));
  }

  /// Shows messages by row; returns the first faulty control.
  showErrors(errors) {
    let first;
    this.rows.forEach((row, place) => {
      const message = errors.get(place);
      fill(row.error, message);
      for (const control of [row.name, row.control]) control.setAttribute("aria-invalid", message ? "true" : "false");
      if (message) first ??= row.name.value.trim() === "" ? row.name : row.control;
    });
    return first;
  }

  /// Shows the API's messages, which have paths such as `attributes.color`; returns the first faulty
  /// control.
  showProblems(problems) {
    const errors = new Map();
    let rest;
    for (const [path, message] of problems) {
      if (!path.startsWith("attributes")) continue;
      const name = path.slice("attributes".length).match(/[a-zA-Z0-9_-]+/u)?.[0];
      const place = this.rows.findIndex((row) => row.name.value.trim() === name);
      if (place >= 0) errors.set(place, message);
      else rest ??= message;
    }
    fill(this.error, rest);
    return this.showErrors(errors) ?? (rest ? this.rows[0]?.name : undefined);
  }

  #add({ name, type, value }, takesFocus) {
    const row = {
      name: h("input", { class: "field-input field-compact", type: "text", list: SUGGESTIONS, maxlength: "40", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "color", value: name, "aria-label": "Name of the attribute" }),
      type: h("select", { class: "field-input field-compact", "aria-label": "Type", value: type }, TYPES.map(([kind, text]) => h("option", { value: kind }, text))),
      error: h("p", { class: "field-error" }),
    };
    row.control = controlOf(type, value);
    row.type.value = type;
    row.type.addEventListener("change", () => {
      const control = controlOf(row.type.value, row.control.value);
      row.control.replaceWith(control);
      row.control = control;
    });
    const remove = h("button", { class: "button button-quiet button-round button-small", type: "button", "aria-label": "Remove the attribute", on: { click: () => this.#remove(row) } }, icon("close"));
    row.element = h("li", { class: "attribute-row" }, row.name, row.type, row.control, remove, row.error);
    this.rows.push(row);
    this.list.append(row.element);
    if (takesFocus) row.name.focus();
  }

  #remove(row) {
    const place = this.rows.indexOf(row);
    this.rows.splice(place, 1);
    row.element.remove();
    (this.rows[place]?.name ?? this.element.querySelector("button:last-of-type")).focus();
    this.element.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/// The control for values of a type, with the value as far as the type has it.
function controlOf(type, value) {
  const shared = { class: "field-input field-compact attribute-value", "aria-label": "Value", dir: "auto" };
  if (type === "boolean") return h("select", { ...shared, value: value === "false" ? "false" : "true" }, h("option", { value: "true" }, "Yes"), h("option", { value: "false" }, "No"));
  if (type === "texts") return h("textarea", { ...shared, rows: "2", placeholder: "one a line", value });
  // An input has no lines.
  if (type === "text" && value.includes("\n")) return h("textarea", { ...shared, rows: "2", value });
  const line = value.split("\n")[0];
  if (type === "number") return h("input", { ...shared, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "12.5", value: ["true", "false"].includes(line) ? "" : line });
  return h("input", { ...shared, type: "text", maxlength: "200", autocomplete: "off", value: line });
}
