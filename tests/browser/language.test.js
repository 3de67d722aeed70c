// The shop page in its languages.

import assert from "node:assert/strict";
import { test } from "node:test";
import de from "../../crates/server/src/http/pages/texts-de.js";
import en from "../../crates/server/src/http/pages/texts-en.js";
import es from "../../crates/server/src/http/pages/texts-es.js";
import fr from "../../crates/server/src/http/pages/texts-fr.js";
import { accessible, address, cards, fits, newShop, open, picture, says, until } from "./harness.js";

const LANGUAGES = { en, de, es, fr };
const NO_DEMO = [/404 \(Not Found\).*\/demo\/session/];
const GOODS = [
  { title: "Schal aus Wolle", price: "$35.00", description: "Hält den Hals warm.", attributes: { color: "grau", width_cm: 30, washable: true } },
  { title: "Schal aus Leinen", price: "$1,025.00", description: "Leicht und weich.", attributes: { color: "blau", width_cm: 45.5, washable: false } },
  { title: "Schal aus Seide", price: "€80.00", description: "Für den Abend.", attributes: { color: "rot", width_cm: 60 } },
];

async function shopWithScarves() {
  const shop = await newShop();
  for (const product of GOODS) await shop.create(product);
  return shop;
}

const languageOf = (page) => page.evaluate(() => document.documentElement.lang);
const inLanguage = (page, code) => until(page, `the page in ${code}`, (wanted) => document.documentElement.lang === wanted, code);

test("the page itself says nothing in any language", async () => {
  const html = await (await fetch(`${address}/preview`)).text();
  const body = html.slice(html.indexOf("<body>")).replace(/<noscript>.*<\/noscript>/su, "");
  assert.equal(body.replace(/<[^>]*>/gu, "").trim().replace(/\s+/gu, " "), "Shopkeeper /");
  assert.doesNotMatch(body, /aria-label=|placeholder="[^"]*\s/u);
});

for (const [locale, code, total] of [["de-AT", "de", "3 Produkte im Shop"], ["fr-CA", "fr", "3 produits, les plus récents d’abord"], ["es-MX", "es", "3 productos, los más recientes primero"], ["ja-JP", "en", "3 products in the shop"]]) {
  test(`the language is that of the browser: ${locale}`, async () => {
    const { token } = await shopWithScarves();
    const page = await open("/preview", { token, locale });
    await says(page, "#total", total);
    assert.equal(await languageOf(page), code);
    assert.equal(await page.inputValue("#language"), code);
    assert.equal(await page.getAttribute("#query", "placeholder"), LANGUAGES[code]["search.placeholder"]);
  });
}

test("another language is chosen with the keyboard and remembered", async () => {
  const { token } = await shopWithScarves();
  const page = await open("/preview?lang=fr#q=schal", { token });
  await inLanguage(page, "fr");
  await page.getByRole("combobox", { name: "Langue" }).focus();
  await page.keyboard.type("Deu");
  await inLanguage(page, "de");
  await says(page, "#filters", "Farbe");
  assert.equal(await page.evaluate(() => document.activeElement.id), "language", "the focus stays");
  assert.equal(await page.inputValue("#query"), "schal");
  assert.deepEqual(await page.evaluate(() => [location.search, location.hash]), ["", "#q=schal"]);
  await accessible(page, "German");
  await page.reload();
  await inLanguage(page, "de");
  await page.goto(`${address}/preview?lang=es`);
  await inLanguage(page, "es");
  await page.goto(`${address}/preview?lang=xx`);
  await inLanguage(page, "de");
});

test("the page without a shop changes its language too, the admin page does not", async () => {
  const page = await open("/", { phone: true, locale: "fr-FR", expected: NO_DEMO });
  await says(page, "h1", "Shopkeeper fonctionne");
  await page.selectOption("#language", "de");
  await says(page, "h1", "Shopkeeper läuft");
  await fits(page);
  await accessible(page, "landing");
  await page.goto(`${address}/admin`);
  await says(page, "dialog h2", "Enter a token");
  assert.equal(await languageOf(page), "en");
});

test("what is remembered in a wrong form is ignored", async () => {
  const { token } = await shopWithScarves();
  const page = await open("/preview", { token, locale: "es-ES" });
  for (const wrong of ["{", "7", '"constructor"']) {
    await page.evaluate((value) => localStorage.setItem("shopkeeper.language", value), wrong);
    await page.reload();
    await says(page, "#total", "3 productos");
  }
});

test("conditions, filters and prices are in German", async () => {
  const { token } = await shopWithScarves();
  const page = await open("/preview?lang=de", { token });
  await page.fill("#query", "Schal unter 2000 Dollar ohne Wolle");
  await cards(page, ["Schal aus Leinen"]);
  const spaces = (text) => text.replaceAll("\u00a0", " ");
  const chips = await page.locator(".chip:not(.chip-inferred)").allTextContents();
  assert.deepEqual(chips.map(spaces), ["unter 2.000 $", "nicht Wolle"]);
  assert.equal(spaces(await page.locator("#results .price").textContent()), "1.025,00 $");
  await page.getByRole("button", { name: "Entfernen: nicht Wolle" }).click();
  await until(page, "two scarves", () => document.querySelectorAll("#results .card").length === 2);
  assert.equal(await page.inputValue("#query"), "Schal unter 2000 Dollar");
  await page.fill("#query", "Schal unter 5 Dollar");
  await says(page, ".empty", "Nichts gefunden");
  await page.getByRole("button", { name: /^Ohne „unter 5\s\$“ suchen$/u }).click();
  await says(page, "#total", "3 Produkte");
});

test("the demo's examples are in German", async () => {
  const shop = await shopWithScarves();
  const token = await shop.issue("SHOPPER");
  const page = await open("/", { locale: "de-DE", expected: NO_DEMO });
  await page.route("**/demo/session", (route) => route.fulfill({ json: { token } }));
  await page.reload();
  await until(page, "examples", () => document.querySelectorAll(".example").length > 0);
  assert.deepEqual(await page.locator(".example").allTextContents(), de["intro.examples"]);
  assert.equal(await page.locator("#results .card").first().getAttribute("lang"), "en", "the language of the demo's products");
  await page.locator(".example", { hasText: "unter 40 Dollar" }).click();
  await until(page, "the price as a chip", () => document.querySelector(".chip-price")?.textContent === "unter 40\u00a0$");
  assert.equal(await page.inputValue("#query"), de["intro.examples"][0]);
});

for (const [code, texts] of Object.entries(LANGUAGES)) {
  test(`the examples are understood: ${code}`, async () => {
    const shop = await shopWithScarves();
    const read = async (query) => (await shop.call("POST", "/search", { query })).understood;
    const examples = await Promise.all(texts["intro.examples"].map(read));
    assert.deepEqual(examples.flatMap(({ constraints }) => constraints.map(({ operation, currency }) => [operation, currency]))[0], ["below", "USD"]);
    assert.equal(examples.flatMap(({ exclusions }) => exclusions).length, 1, "something to leave out");
    const priced = await read(texts["intro.example-priced"].replace("{words}", "Seide").replace("{price}", "$30.00"));
    assert.deepEqual(priced.constraints.map(({ operation, value }) => [operation, value]), [["below", "30.00"]]);
    assert.equal((await read(texts["intro.example-price"].replace("{price}", "$30.00"))).constraints.length, 1);
    assert.equal((await read(texts["intro.example-cheapest"])).sort?.order, "price_ascending");
    assert.equal((await read(texts["intro.example-newest"])).sort?.order, "newest");
  });

  for (const phone of [false, true]) {
    test(`the shop fits: ${code}, ${phone ? "phone" : "screen"}`, async () => {
      const { token } = await shopWithScarves();
      const page = await open(`/preview?lang=${code}`, { token, phone });
      await until(page, "cards", () => document.querySelectorAll("#results .card").length === 3);
      const look = async (name) => {
        await fits(page);
        await accessible(page, `${code}, ${name}`);
        await picture(page, `language-${code}-${name}-${phone ? "phone" : "screen"}`);
      };
      await look("shop");
      if (phone) {
        await page.locator("#open-filters").click();
        await page.locator("dialog[open]").waitFor();
        await look("filters");
        await page.keyboard.press("Escape");
      }
      await page.fill("#query", "Schal -Wolle < $5");
      await page.locator(".empty").waitFor();
      await look("empty");
    });
  }
}
