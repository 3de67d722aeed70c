// Streaming readers of import files: `push` takes text and returns records as `{ line, value }` or
// `{ line, error }`. A large file is never completely in memory.

/// JSON Lines: one object per line.
export class JsonLines {
  #rest = "";
  #line = 0;

  push(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    return lines.flatMap((line) => this.#read(line));
  }

  end() {
    return this.#read(this.#rest);
  }

  #read(line) {
    this.#line += 1;
    return line.trim() === "" ? [] : [parsed(line, this.#line)];
  }
}

function parsed(text, line) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { line, value };
    return { line, error: "is not an object" };
  } catch (error) {
    return { line, error: `is not JSON: ${error.message}` };
  }
}

/// A JSON array of objects. Elements are found by counting brackets, then parsed one by one.
export class JsonArray {
  #element = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #line = 1;
  #begun = 1;

  push(text) {
    const found = [];
    for (const character of text) {
      if (character === "\n") this.#line += 1;
      if (this.#inString) {
        this.#element += character;
        if (this.#escaped) this.#escaped = false;
        else if (character === "\\") this.#escaped = true;
        else if (character === '"') this.#inString = false;
        continue;
      }
      if (character === '"') this.#inString = true;
      const closes = character === "]" || character === "}";
      if (closes) this.#depth -= 1;
      const between = (this.#depth === 1 && character === ",") || (this.#depth === 0 && closes);
      if (between) found.push(...this.#take());
      else if (this.#depth >= 1) this.#add(character);
      if (character === "[" || character === "{") this.#depth += 1;
    }
    return found;
  }

  end() {
    return this.#depth === 0 ? [] : [{ line: this.#line, error: "the file ends inside the array" }];
  }

  #add(character) {
    if (this.#element === "") {
      if (/\s/u.test(character)) return;
      this.#begun = this.#line;
    }
    this.#element += character;
  }

  #take() {
    const text = this.#element.trim();
    this.#element = "";
    return text === "" ? [] : [parsed(text, this.#begun)];
  }
}

/// Values between commas, tabs or semicolons, as RFC 4180 has them; the first row names the columns.
export class Separated {
  #separator;
  #row = [];
  #cell = "";
  #quoted = false;
  #quoteBefore = false;
  #line = 1;
  #begun = 1;
  columns;

  constructor(separator) {
    this.#separator = separator;
  }

  push(text) {
    const found = [];
    for (const character of text) {
      if (this.#quoted && character !== '"' && !this.#quoteBefore) {
        if (character === "\n") this.#line += 1;
        this.#cell += character;
        continue;
      }
      if (character === '"') {
        if (this.#quoted) {
          // Two quotes stand for one; a single one ends the cell.
          if (this.#quoteBefore) this.#cell += '"';
          this.#quoteBefore = !this.#quoteBefore;
        } else if (this.#cell === "") {
          this.#quoted = true;
        } else {
          this.#cell += '"';
        }
        continue;
      }
      if (this.#quoteBefore) {
        this.#quoted = false;
        this.#quoteBefore = false;
      }
      if (character === this.#separator) this.#endCell();
      else if (character === "\n") found.push(...this.#endRow());
      else if (character !== "\r") this.#cell += character;
    }
    return found;
  }

  end() {
    if (this.#quoted && !this.#quoteBefore) return [{ line: this.#begun, error: "a quote is never closed" }];
    return this.#row.length > 0 || this.#cell !== "" ? this.#endRow() : [];
  }

  #endCell() {
    this.#row.push(this.#cell);
    this.#cell = "";
    this.#quoted = false;
  }

  #endRow() {
    this.#endCell();
    const [row, line] = [this.#row, this.#begun];
    this.#row = [];
    this.#line += 1;
    this.#begun = this.#line;
    if (row.length === 1 && row[0].trim() === "") return [];
    if (this.columns === undefined) {
      this.columns = row.map((name) => name.replace(/^\uFEFF/u, "").trim());
      return [];
    }
    if (row.length > this.columns.length) return [{ line, error: `has ${row.length} values for ${this.columns.length} columns` }];
    return [{ line, value: Object.fromEntries(this.columns.map((name, place) => [name, row[place] ?? ""])) }];
  }
}

/// Which reader a file needs, by its name and how it begins: `lines`, `array`, `,`, `;` or a tab.
export function formatOf(name, beginning) {
  const text = beginning.replace(/^\uFEFF/u, "").trimStart();
  if (text.startsWith("[")) return "array";
  if (text.startsWith("{")) return "lines";
  const head = text.split("\n")[0];
  if (/\.tsv$/iu.test(name) || head.includes("\t")) return "\t";
  const count = (mark) => head.split(mark).length;
  return count(";") > count(",") ? ";" : ",";
}

export function readerOf(format) {
  if (format === "lines") return new JsonLines();
  return format === "array" ? new JsonArray() : new Separated(format);
}

const KNOWN = {
  title: ["title", "name", "product", "product name", "product title"],
  description: ["description", "body", "body (html)", "details", "text"],
  price: ["price", "amount", "variant price", "regular price"],
  hidden: ["hidden"],
  media: ["image", "image url", "image link", "image src", "picture", "media", "images"],
};

/// Maps fields to columns by their names.
export function guessMapping(columns) {
  const plain = (name) => name.toLowerCase().replace(/[_-]+/gu, " ").trim();
  const mapping = {};
  for (const [field, names] of Object.entries(KNOWN)) {
    const found = names.map((name) => columns.find((column) => plain(column) === name)).find(Boolean);
    if (found) mapping[field] = found;
  }
  return mapping;
}

/// A row as a product. Empty cells are left out, so that the API reports missing fields.
export function toProduct(row, mapping) {
  const cell = (field) => (mapping[field] === undefined ? "" : (row[mapping[field]] ?? "").trim());
  const product = {};
  for (const field of ["title", "description", "price"]) if (cell(field) !== "") product[field] = cell(field);
  if (cell("hidden") !== "") product.hidden = /^(?:true|yes|y|1|x|hidden)$/iu.test(cell("hidden"));
  const urls = cell("media").split(/[\s,|]+/u).filter((url) => url !== "");
  if (urls.length > 0) product.media = urls.map((url) => ({ url, type: "image" }));
  return product;
}

/// A product whose price is a bare number gets this currency.
export function withCurrency(product, currency) {
  const { price } = product;
  if (!currency || price === undefined || !/^\s*\d[\d.,'\s]*$/u.test(String(price))) return product;
  return { ...product, price: `${String(price).trim()} ${currency}` };
}
