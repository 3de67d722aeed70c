// The texts of the shop page: every language has all of them, and the page uses them all.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { labelOf, rangeText, valueText } from "../../crates/server/src/http/pages/attributes.js";
import { chipsOf, priceLabel } from "../../crates/server/src/http/pages/chips.js";
import { text, textParts, useTexts } from "../../crates/server/src/http/pages/texts.js";
import { amount, duration, price } from "../../crates/server/src/http/pages/words.js";

const PAGES = new URL("../../crates/server/src/http/pages/", import.meta.url);
const files = readdirSync(PAGES);
const languages = {};
for (const name of files) {
  const code = name.match(/^texts-(\w+)\.js$/)?.[1];
  if (code) languages[code] = (await import(new URL(name, PAGES))).default;
}
const { en } = languages;

/// Runs with the texts of a language, and with English ones after that.
function inLanguage(code, check, locale = code) {
  useTexts(languages[code], locale);
  try {
    check();
  } finally {
    useTexts(en, "en");
  }
}

const formsOf = (found) => (typeof found === "string" ? [found] : Object.values(found));
const placeholders = (form) => [...form.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name).sort();
const isPlural = (found) => typeof found === "object" && !Array.isArray(found);

for (const [code, texts] of Object.entries(languages)) {
  test(`the texts are complete: ${code}`, () => {
    assert.deepEqual(Object.keys(texts), Object.keys(en), "the same keys in the same order");
    for (const [key, found] of Object.entries(texts)) {
      assert.equal(Array.isArray(found), Array.isArray(en[key]), key);
      if (Array.isArray(found)) assert.equal(found.length, en[key].length, key);
      assert.equal(isPlural(found), isPlural(en[key]), key);
      const wanted = placeholders(formsOf(en[key])[0]);
      for (const form of formsOf(found)) {
        assert.notEqual(form.trim(), "", key);
        assert.deepEqual(placeholders(form), wanted, key);
      }
      const { pluralCategories } = new Intl.PluralRules(code).resolvedOptions();
      if (isPlural(found)) assert.deepEqual(Object.keys(found).sort(), [...pluralCategories].sort(), key);
    }
  });
}

test("every text is used, and every text that is used exists", () => {
  const sources = files.filter((name) => /\.(js|html)$/.test(name) && !name.startsWith("texts-") && !name.startsWith("admin"));
  const code = sources.map((name) => readFileSync(new URL(name, PAGES), "utf8")).join("\n");
  const named = new Set([...code.matchAll(/"([a-z]+\.[a-z-]+)"/g)].map(([, key]) => key));
  const sections = new Set(Object.keys(en).map((key) => key.split(".")[0]));
  const used = [...named].filter((key) => sections.has(key.split(".")[0]) && !/\.(js|css|svg)$/.test(key));
  for (const key of used) assert.ok(Object.hasOwn(en, key), `${key} has no text`);
  const derived = /^(?:attribute|unit)\./;
  for (const key of Object.keys(en)) assert.ok(named.has(key) || derived.test(key), `${key} is not used`);
});

test("English labels are those that any attribute gets", () => {
  for (const [key, label] of Object.entries(en).filter(([key]) => key.startsWith("attribute."))) {
    const words = key.slice("attribute.".length).replaceAll("_", " ");
    assert.equal(label.toLowerCase(), words);
  }
});

test("numbers and plural forms are those of the language", () => {
  const count = (many) => text("results.count", { count: many });
  assert.deepEqual([0, 1, 1234].map(count), ["0 products", "1 product", "1,234 products"]);
  inLanguage("de", () => assert.deepEqual([0, 1, 1234].map(count), ["0 Produkte", "1 Produkt", "1.234 Produkte"]));
  inLanguage("fr", () => assert.deepEqual([0, 1, 2, 1_000_000].map(count), ["0 produit", "1 produit", "2 produits", "1\u202f000\u202f000 de produits"]));
  inLanguage("es", () => assert.deepEqual([0, 1, 1_000_000].map(count), ["0 productos", "1 producto", "1.000.000 de productos"]));
  inLanguage("de", () => {
    assert.equal(duration(1400), "1,4 s");
    assert.deepEqual([amount("1299.50", "EUR"), amount("40", "USD"), amount("0.5")], ["1.299,50\u00a0€", "40\u00a0$", "0,5"]);
    assert.deepEqual(["$1,299.00", "£5", "1299 CHF", "from $5"].map(price), ["1.299,00\u00a0$", "5\u00a0£", "1299 CHF", "from $5"]);
  });
  inLanguage("de", () => assert.match(count(12_345), /^12['’]345 Produkte$/u), "de-CH");
  assert.deepEqual(["$1,299.00", "$1299", "1.299,00 €"].map(price), ["$1,299.00", "$1299", "1.299,00 €"]);
});

test("labels are in the language, words of the shop stay as they are", () => {
  inLanguage("de", () => {
    assert.deepEqual(["color", "width_cm", "screen_inch", "thread_count"].map(labelOf), ["Farbe", "Breite (cm)", "Bildschirm (Zoll)", "Thread count"]);
    assert.deepEqual([valueText(true), rangeText({ min: 1.5 }), rangeText({ min: 1, max: 5 })], ["Ja", "ab 1,5", "1 bis 5"]);
    assert.equal(priceLabel({ operation: "below", value: "900", currency: "USD" }), "unter 900\u00a0$");
  });
  inLanguage("fr", () => {
    const understood = { constraints: [], exclusions: [], corrections: [], attributes: [{ name: "material", values: ["lin", "coton"], required: true }] };
    assert.deepEqual(chipsOf("", understood).map(({ label }) => label), ["Matière\u00a0: seulement lin ou coton"]);
  });
});

test("a text with an element in it comes in pieces", () => {
  const link = { is: "element" };
  assert.deepEqual(textParts("empty.shop-advice", { link }).filter((part) => typeof part !== "string"), [link]);
  assert.throws(() => text("no.such"), /no text/);
});
