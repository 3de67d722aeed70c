// The parts of the pages that need no page: what is cut, read, counted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromRows, toRows } from "../../crates/server/src/http/pages/admin-attributes.js";
import { attributesLine, inferredLine, labelOf, rangeText, valueText } from "../../crates/server/src/http/pages/attributes.js";
import { between, pieces, quantile } from "../../crates/server/src/http/pages/charts.js";
import { chipsOf, cut, priceLabel } from "../../crates/server/src/http/pages/chips.js";
import { facetNames, filterChips, learnCategories, rangeOf, readFilter, toggled, withCondition, withFilterNames, writeFilter } from "../../crates/server/src/http/pages/filters.js";
import { Finder } from "../../crates/server/src/http/pages/finder.js";
import { backwards } from "../../crates/server/src/http/pages/listing.js";
import { JsonArray, JsonLines, Separated, formatOf, guessMapping, toProduct, withCurrency } from "../../crates/server/src/http/pages/records.js";
import { amount, bytes, counted, duration } from "../../crates/server/src/http/pages/words.js";

/// The place of a piece of a query, as the service would report it.
function spanOf(query, text) {
  const start = [...query.slice(0, query.indexOf(text))].length;
  return { start, end: start + [...text].length };
}

function exclusionsIn(query, ...pairs) {
  const exclusions = pairs.map(([words, text]) => ({ words, text, span: spanOf(query, text) }));
  return { constraints: [], exclusions, sort: null, corrections: [], residual: "" };
}

test("a piece is cut out by characters, not by code units", () => {
  const check = (query, text, expected) => assert.equal(cut(query, [spanOf(query, text)]), expected);
  check("red shoes under $50 without leather", "under $50", "red shoes without leather");
  check("Café-Stühle 🛋 under €50", "under €50", "Café-Stühle 🛋");
  check("🛋🛋 under €50 blau", "under €50", "🛋🛋 blau");
  check("under $20", "under $20", "");
  check("shoes, under $20, and red", "under $20", "shoes, and red");
  check("shoes under $20 and", "under $20", "shoes");
});

test("an exclusion that others lean on leaves them said in full", () => {
  const query = "bag without leather or fur under $50";
  const understood = exclusionsIn(query, ["leather", "without leather"], ["fur", "or fur"]);
  const rest = chipsOf(query, understood).map(({ label, without }) => [label, without.query]);
  assert.deepEqual(rest, [["not leather", "bag under $50 without fur"], ["not fur", "bag under $50 without leather"]]);
});

test("what remains of an exclusion keeps the language of the query", () => {
  const query = "Tasche ohne Leder oder Pelz";
  const [chip] = chipsOf(query, exclusionsIn(query, ["leder", "ohne Leder"], ["pelz", "oder Pelz"]));
  assert.equal(chip.without.query, "Tasche ohne Pelz");
  assert.equal(cut("Tasche unter 50 Euro und", [spanOf("Tasche unter 50 Euro und", "unter 50 Euro")]), "Tasche");
});

test("exclusions that stand apart do not touch each other", () => {
  const query = "shoes not black with laces not leather";
  const understood = exclusionsIn(query, ["black", "not black"], ["leather", "not leather"]);
  assert.deepEqual(chipsOf(query, understood).map(({ without }) => without.query), ["shoes with laces not leather", "shoes not black with laces"]);
});

test("a chip names what was written, not what the index has", () => {
  const query = "snack without nuts";
  assert.equal(chipsOf(query, exclusionsIn(query, ["nut", "without nuts"]))[0].label, "not nuts");
});

test("a correction is taken back without touching the query", () => {
  const understood = { constraints: [], exclusions: [], sort: null, residual: "", corrections: [{ from: "runing", to: "running", span: { start: 0, end: 6 } }] };
  const [chip] = chipsOf("runing shoes", understood);
  assert.equal(chip.label, "showing results for running (instead of runing)");
  assert.equal(chip.without.query, "runing shoes");
  assert.deepEqual(chip.without.understand, { corrections: false });
});

test("what the thing should be and have is switched off together", () => {
  const understood = {
    ...exclusionsIn("only navy armchair in linen"),
    attributes: [{ name: "color", values: ["blue"], required: true }, { name: "material", values: ["linen", "cotton"], required: false }],
    category: { id: "fr-8", path: ["Furniture", "Chairs"] },
  };
  const chips = chipsOf("only navy armchair in linen", understood, { corrections: false });
  assert.deepEqual(chips.map(({ label, isWish }) => [label, isWish]), [["Chairs", true], ["Color: only blue", false], ["Material: linen or cotton", true]]);
  for (const { kind, without } of chips) {
    assert.equal(kind, "inferred");
    assert.deepEqual(without, { query: "only navy armchair in linen", understand: { corrections: false, attributes: false } });
  }
});

test("prices are labelled in few words", () => {
  const label = (operation, value, currency, more) => priceLabel({ operation, value, currency, ...more });
  assert.equal(label("below", "40", "USD"), "under $40");
  assert.equal(label("at_most", "899.90", "EUR"), "up to €899.90");
  assert.equal(label("above", "1299", null), "over 1,299");
  assert.equal(label("at_least", "5", "GBP"), "£5 or more");
  assert.equal(label("between", undefined, "USD", { min: "20", max: "50" }), "$20 to $50");
  assert.equal(label("about", undefined, null, { min: "40", max: "60" }), "about 40 to 60");
});

test("numbers are formatted for people", () => {
  assert.equal(amount("0.1", "USD"), "$0.1");
  assert.equal(counted(1, "product"), "1 product");
  assert.equal(counted(1234, "product"), "1,234 products");
  assert.deepEqual([0.5, 8.04, 220, 1400, 75_000, 7_260_000, 90_000_000].map(duration), ["0.50 ms", "8.0 ms", "220 ms", "1.4 s", "1 min 15 s", "2 h 1 min", "1 d 1 h"]);
  assert.deepEqual([640, 12_500_000].map(bytes), ["640 B", "12.5 MB"]);
});

/// Whatever way a text is cut into pieces, the records are the same.
function readInPieces(make, text) {
  const whole = make();
  const expected = [...whole.push(text), ...whole.end()];
  for (const size of [1, 2, 3, 7]) {
    const reader = make();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
    found.push(...reader.end());
    assert.deepEqual(found, expected, `in pieces of ${size}`);
  }
  return expected;
}

test("separated values are read as RFC 4180 has them", () => {
  const text = 'name,price,details\r\n"Mug, red",$5,"says ""hello"""\r\n\r\n"two\nlines",$6\r\nlast,$7,"x"';
  assert.deepEqual(readInPieces(() => new Separated(","), text), [
    { line: 2, value: { name: "Mug, red", price: "$5", details: 'says "hello"' } },
    { line: 4, value: { name: "two\nlines", price: "$6", details: "" } },
    { line: 6, value: { name: "last", price: "$7", details: "x" } },
  ]);
  assert.deepEqual(readInPieces(() => new Separated("\t"), "a\tb\n1\t2\t3\n"), [{ line: 2, error: "has 3 values for 2 columns" }]);
  assert.deepEqual(readInPieces(() => new Separated(","), 'a\n"open'), [{ line: 2, error: "a quote is never closed" }]);
  assert.deepEqual(readInPieces(() => new Separated(","), '\uFEFFtitle\n5" pipe\n'), [{ line: 2, value: { title: '5" pipe' } }]);
});

test("JSON lines are read one by one, bad ones told by line", () => {
  const found = readInPieces(() => new JsonLines(), '{"a": 1}\n\n{"a": \n[1]\n{"a": 2}');
  assert.deepEqual(found.map(({ line, value }) => [line, value]), [[1, { a: 1 }], [3, undefined], [4, undefined], [5, { a: 2 }]]);
  assert.match(found[1].error, /^is not JSON/);
  assert.equal(found[2].error, "is not an object");
});

test("a JSON array is read element by element", () => {
  const text = '[\n {"t": "a, ] } \\" b", "m": [{"u": 1}, {"u": 2}]},\n {"t": "c"}\n]\n';
  assert.deepEqual(readInPieces(() => new JsonArray(), text), [
    { line: 2, value: { t: 'a, ] } " b', m: [{ u: 1 }, { u: 2 }] } },
    { line: 3, value: { t: "c" } },
  ]);
  assert.deepEqual(readInPieces(() => new JsonArray(), "[]"), []);
  assert.equal(readInPieces(() => new JsonArray(), '[{"a": 1}, {"b"').at(-1).error, "the file ends inside the array");
});

test("a file's format is told by its beginning", () => {
  const check = (name, text, expected) => assert.equal(formatOf(name, text), expected, name);
  check("a.json", ' [{"a": 1}]', "array");
  check("a.json", '{"a": 1}\n{"a": 2}', "lines");
  check("a.csv", "title,price\n", ",");
  check("a.csv", "title;price;x,y\n", ";");
  check("a.txt", "title\tprice\n", "\t");
  check("a.csv", "\uFEFFtitle,price\n", ",");
});

test("columns find their fields, rows become products", () => {
  const mapping = guessMapping(["Product_Name", "Body (HTML)", "Variant Price", "Image Src", "Hidden", "SKU"]);
  assert.deepEqual(mapping, { title: "Product_Name", description: "Body (HTML)", price: "Variant Price", media: "Image Src", hidden: "Hidden" });
  const row = { Product_Name: " Mug ", "Body (HTML)": "", "Variant Price": "5", "Image Src": "https://a.example/1.png", Hidden: "TRUE" };
  const product = toProduct(row, mapping);
  assert.deepEqual(product, { title: "Mug", price: "5", hidden: true, media: [{ url: "https://a.example/1.png", type: "image" }] });
  assert.equal(withCurrency(product, "EUR").price, "5 EUR");
  assert.equal(withCurrency({ price: 12.5 }, "USD").price, "12.5 USD");
  assert.equal(withCurrency({ price: "$5" }, "EUR").price, "$5");
  assert.equal(withCurrency({ price: "5" }, "").price, "5");
});

test("pages are counted from the end of the catalog", () => {
  assert.deepEqual(backwards(120, 0, 50), { offset: 70, limit: 50 });
  assert.deepEqual(backwards(120, 2, 50), { offset: 0, limit: 20 });
  assert.deepEqual(backwards(120, 3, 50), { offset: 0, limit: 0 });
  assert.deepEqual(backwards(0, 0, 50), { offset: 0, limit: 0 });
});

test("what happened between two readings has quantiles of its own", () => {
  const times = (...pairs) => pairs.map(([up_to_ms, count]) => ({ up_to_ms, count }));
  const recent = between(times([1, 90], [2, 10]), times([1, 95], [2, 10], [8, 5]));
  assert.deepEqual(recent, times([1, 5], [8, 5]));
  assert.equal(quantile(recent, 0.5), 1);
  assert.equal(quantile(recent, 0.95), 8);
  assert.equal(quantile([], 0.5), undefined);
  assert.deepEqual(pieces([undefined, 1, 2, undefined, 3]), [[[1, 1], [2, 2]], [[4, 3], [4.5, 3]]]);
});

test("only the latest question is answered", async () => {
  const asked = [];
  const shown = [];
  const finder = new Finder({
    find: (request, signal) => new Promise((resolve, reject) => {
      asked.push({ request, resolve, reject, signal });
    }),
    show: (request, answer) => shown.push([request, answer]),
    fail: (request, error) => shown.push([request, error.message]),
    pause: 0,
  });
  const first = finder.ask("a");
  const second = finder.ask("b");
  assert.equal(asked[0].signal.aborted, true);
  asked[1].resolve("B");
  asked[0].resolve("A");
  await Promise.all([first, second]);
  assert.deepEqual(shown, [["b", "B"]]);
  const third = finder.ask("c");
  asked[2].reject(new Error("away"));
  await third;
  assert.deepEqual(shown.at(-1), ["c", "away"]);
});

test("attributes are named and written for people", () => {
  assert.deepEqual(["color", "width_cm", "age_from", "power_w", "cm"].map(labelOf), ["Color", "Width (cm)", "Age from", "Power (W)", "Cm"]);
  assert.deepEqual([["navy", "white"], true, false, 0.75, 2027, 12000].map(valueText), ["navy, white", "Yes", "No", "0.75", "2027", "12,000"]);
  assert.equal(attributesLine({ color: "red", width_cm: 218 }), "Color: red · Width (cm): 218");
  assert.equal(attributesLine(undefined), "");
  const category = { id: "fr-8", path: ["Furniture", "Chairs"], confidence: 0.9 };
  assert.equal(inferredLine({ category, inferred_attributes: { color: ["blue", "white"] } }), "Furniture › Chairs · Color: blue, white");
  assert.equal(inferredLine({ inferred_attributes: { color: ["blue"] } }), "Color: blue");
  assert.equal(inferredLine({}), "");
  assert.deepEqual([{ min: 1, max: 5 }, { min: 1 }, { max: 5 }].map((range) => rangeText(range)), ["1 to 5", "1 or more", "up to 5"]);
});

test("a filter comes back from the address as it went in", () => {
  const filter = { color: ["red", "a&b=c"], washable: false, width_cm: { min: -1.5, max: 200 }, age: { max: 3 }, price: { min: "10", max: "49.99", currency: "USD" } };
  const params = new URLSearchParams();
  writeFilter(filter, params);
  assert.equal(params.get("price"), "10..49.99");
  assert.deepEqual(readFilter(new URLSearchParams(String(params))), filter);
});

test("what an address says wrongly is left out of the filter", () => {
  const check = (text, expected) => assert.deepEqual(readFilter(new URLSearchParams(text)), expected, text);
  check("q=red&f.Color=red&f.=red&f.color=&b.washable=maybe&n.width=1&n.width_cm=x..y&price=cheap", {});
  check("f.color=red&f.color=red&f.color=blue", { color: ["red", "blue"] });
  check("price=5..&currency=dollars", { price: { min: "5" } });
  check("n.width_cm=200..100", { width_cm: { min: 100, max: 200 } });
});

test("conditions are added and removed without touching others", () => {
  const filter = { color: ["Red"], washable: true };
  assert.deepEqual(toggled(filter, "color", "blue", true), { washable: true, color: ["Red", "blue"] });
  assert.deepEqual(toggled(filter, "color", "réd", false), { washable: true });
  assert.deepEqual(withCondition(filter, "washable"), { color: ["Red"] });
  assert.deepEqual(filter, { color: ["Red"], washable: true });
  assert.deepEqual([rangeOf("20", "5"), rangeOf(undefined, 3), rangeOf()], [{ min: "5", max: "20" }, { max: 3 }, undefined]);
});

test("every value of a filter is a chip of its own", () => {
  const filter = { color: ["red", "blue"], washable: false, width_cm: { min: 100 }, price: { max: "50", currency: "EUR" } };
  assert.deepEqual(filterChips(filter).map(({ label }) => label), ["Color: red", "Color: blue", "Washable: no", "Width (cm): 100 or more", "Price: up to €50"]);
  assert.deepEqual(filterChips(filter)[0].without.color, ["blue"]);
  assert.equal("price" in filterChips(filter)[4].without, false);
});

test("categories of a filter are named as products name them", () => {
  const categories = new Map();
  learnCategories([{ category: { id: "aa-1-4", path: ["Apparel", "Clothing", "Dresses"] } }, {}], categories);
  assert.deepEqual([...categories], [["aa", "Apparel"], ["aa-1", "Clothing"], ["aa-1-4", "Dresses"]]);
  assert.deepEqual(filterChips({ category: ["aa-1", "zz"] }, categories).map(({ label }) => label), ["Category: Clothing", "Category: zz"]);
});

test("facets are those of the products, the most frequent first", () => {
  const product = (...names) => ({ attributes: Object.fromEntries(names.map((name) => [name, "x"])) });
  const products = [product("a", "b"), product("b"), product("b", "a", "rare"), {}];
  assert.deepEqual(facetNames(products, { size: ["M"], price: { min: "5" } }), ["price", "b", "a", "size"]);
  assert.deepEqual(facetNames([product("only")], {}), ["price", "only"]);
  const inferred = { ...product("a"), inferred_attributes: { color: ["blue"] }, category: { id: "fr", path: ["Furniture"] } };
  assert.deepEqual(facetNames([inferred, inferred], {}), ["category", "price", "a", "color"]);
  const many = Array.from({ length: 30 }, (_, n) => `n${n}`);
  assert.equal(facetNames([product(...many), product(...many), {}, {}], {}).length, 9);
  assert.equal(withFilterNames(many, { color: ["red"] }).length, 20);
});

test("the rows of a form are the product's attributes, with their types", () => {
  const attributes = { color: ["navy", "white"], brand: "Acme", width_cm: 21.5, washable: false };
  assert.deepEqual(fromRows(toRows(attributes)), { attributes, errors: new Map() });
  const row = (name, type, value) => ({ name, type, value });
  const rows = [row("", "text", ""), row("a", "number", "many"), row("b", "text", " "), row("", "text", "x"), row("c", "texts", "x\n\nx\ny"), row("c", "text", "again")];
  const { attributes: read, errors } = fromRows(rows);
  assert.deepEqual(read, { c: ["x", "y"] });
  assert.deepEqual([...errors.keys()], [1, 2, 3, 5]);
  assert.match(errors.get(1), /must be a number/);
});
