// The shop page's facets: narrowing down, several values, ranges, orders, the drawer, the address.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, cards, fits, newShop, open, picture, says, until } from "./harness.js";

/// Newest last: without words, the shop shows them in the reverse order.
const GOODS = [
  { title: "Oak table", price: "$300.00", key: "T-1", attributes: { color: "brown", material: "oak", width_cm: 160 } },
  { title: "Steel table", price: "$120.00", key: "T-2", attributes: { color: "grey", material: "steel", width_cm: 120, foldable: true } },
  { title: "Blue chair", price: "$80.00", key: "C-1", attributes: { color: "blue", material: ["oak", "wool"], foldable: false } },
  { title: "Grey chair", price: "$60.00", key: "C-2", url: "https://shop.example/c-2", attributes: { color: "grey", material: "steel", foldable: true } },
  { title: "Blue stool", price: "45,00 €", key: "S-1", attributes: { color: "blue", material: "oak", foldable: false } },
];
const ALL = ["Blue stool", "Grey chair", "Blue chair", "Steel table", "Oak table"];

async function furniture() {
  const shop = await newShop();
  for (const product of GOODS) await shop.create(product);
  return shop;
}

const box = (page, facet, value) => page.getByRole("group", { name: facet }).getByRole("checkbox", { name: new RegExp(`^${value} `) });
/// What was said and chosen, without what was inferred.
const chips = (page) => page.locator("#chips .chip:not(.chip-inferred)").allTextContents();

/// The values of a facet with their counts, or whether they are these.
function readFacet([title, wanted]) {
  const group = [...document.querySelectorAll("#facets .facet")].find((one) => one.querySelector("legend").textContent === title);
  const found = [...(group?.querySelectorAll(".facet-value") ?? [])].map((label) => {
    const count = label.querySelector(".facet-count")?.firstChild.textContent ?? "";
    return `${label.querySelector(".facet-text").textContent} ${count}`.trim();
  });
  return wanted === undefined ? found : JSON.stringify(found) === JSON.stringify(wanted);
}

async function facet(page, name, expected) {
  await page.waitForFunction(readFacet, [name, expected]).catch(async () => assert.deepEqual(await page.evaluate(readFacet, [name]), expected));
}

test("facets have exact counts, and several values of one widen the result", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  await facet(page, "Color", ["blue 2", "grey 2", "brown 1"]);
  await facet(page, "Material", ["oak 3", "steel 2", "wool 1"]);
  await accessible(page, "facets");
  await picture(page, "facets");
  await box(page, "Color", "blue").check();
  await cards(page, ["Blue stool", "Blue chair"]);
  await says(page, "#total", "2 products");
  // The facet's own filter does not restrict its counts; others do.
  await facet(page, "Color", ["blue 2", "grey 2", "brown 1"]);
  await facet(page, "Material", ["oak 2", "wool 1"]);
  await box(page, "Color", "grey").check();
  await cards(page, ["Blue stool", "Grey chair", "Blue chair", "Steel table"]);
  await box(page, "Material", "oak").check();
  await cards(page, ["Blue stool", "Blue chair"]);
  await facet(page, "Color", ["blue 2", "brown 1", "grey 0"]);
  assert.deepEqual(await chips(page), ["Color: blue", "Color: grey", "Material: oak"]);
  await picture(page, "facets-chosen");
});

test("chips remove one condition, and all of them at once", async () => {
  const shop = await furniture();
  const page = await open("/preview#f.color=blue&f.color=grey&b.foldable=true", { token: shop.token });
  await cards(page, ["Grey chair", "Steel table"]);
  assert.deepEqual(await chips(page), ["Color: blue", "Color: grey", "Foldable: yes"]);
  await page.getByRole("button", { name: "Remove: Color: grey" }).click();
  await says(page, "#notice", "Nothing found");
  await says(page, "#total", "0 products");
  await until(page, "the total has the focus", () => document.activeElement.id === "total");
  await page.getByRole("button", { name: "Search without “Foldable: yes”" }).click();
  await cards(page, ["Blue stool", "Blue chair"]);
  await page.getByRole("button", { name: "Clear all" }).click();
  await cards(page, ALL);
  await until(page, "the address has no filter", () => !location.hash.includes("color"));
});

test("numbers, prices and booleans are facets of their own kinds", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  const group = (name) => page.getByRole("group", { name });
  await group("Foldable").getByRole("radio", { name: /^Yes/ }).check();
  await cards(page, ["Grey chair", "Steel table"]);
  await group("Foldable").getByRole("radio", { name: "Any" }).check();
  await cards(page, ALL);
  await group("Width (cm)").getByLabel("From").fill("150");
  await page.keyboard.press("Enter");
  await cards(page, ["Oak table"]);
  assert.deepEqual(await chips(page), ["Width (cm): 150 or more"]);
  await page.getByRole("button", { name: "Clear all" }).click();
  await cards(page, ALL);
  // Amounts are compared within one currency; dollars are the most frequent.
  await group("Price").getByLabel("To, USD").fill("100");
  await page.keyboard.press("Enter");
  await cards(page, ["Grey chair", "Blue chair"]);
  assert.deepEqual(await chips(page), ["Price: up to $100"]);
  await group("Price").getByLabel("Currency").selectOption("EUR");
  await cards(page, ["Blue stool"]);
  assert.deepEqual(await chips(page), ["Price: up to €100"]);
});

test("the order can be chosen, and wins over one in the words", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  await page.selectOption("#sort", "price");
  // The most frequent currency first.
  await cards(page, ["Grey chair", "Blue chair", "Steel table", "Oak table", "Blue stool"]);
  await page.selectOption("#sort", "newest");
  await cards(page, ALL);
  await until(page, "the usual order is not in the address", () => !location.hash.includes("sort"));
  await page.fill("#query", "cheapest table");
  await cards(page, ["Steel table", "Oak table"]);
  assert.equal(await page.inputValue("#sort"), "price");
  await page.selectOption("#sort", "-price");
  await cards(page, ["Oak table", "Steel table"]);
  assert.deepEqual(await chips(page), []);
});

test("filters, order and pages survive a reload, and back takes them back", async () => {
  const shop = await newShop();
  const make = (n) => ({ title: `Mug number ${n}`, price: `$${n + 1}`, attributes: { color: n % 3 === 0 ? "red" : "green", glazed: n % 2 === 0 } });
  await shop.call("POST", "/products/bulk", { products: Array.from({ length: 90 }, (_, n) => make(n)) });
  const page = await open("/preview", { token: shop.token });
  await says(page, "#total", "90 products in the shop");
  await facet(page, "Color", ["green 60", "red 30"]);
  await box(page, "Color", "green").check();
  await says(page, "#total", "60 products");
  await page.selectOption("#sort", "price");
  await until(page, "the cheapest first", () => document.querySelector("#results .card-title").textContent === "Mug number 1");
  await page.getByRole("button", { name: "Show more" }).click();
  await until(page, "48 cards", () => document.querySelectorAll("#results .card").length === 48);
  const shown = () => page.locator("#results .card-title").allTextContents();
  const before = await shown();
  await page.reload();
  await until(page, "48 cards again", () => document.querySelectorAll("#results .card").length === 48);
  assert.deepEqual(await shown(), before);
  assert.equal(await page.inputValue("#sort"), "price");
  await facet(page, "Color", ["green 60", "red 30"]);
  assert.ok(await box(page, "Color", "green").isChecked());
  // A product on a later page opens over the list, which stays as it is.
  await page.locator("#results .card").first().click();
  await says(page, "dialog[open] h2", "Mug number 1");
  await page.keyboard.press("Escape");
  await until(page, "48 cards still", () => !document.querySelector("dialog[open]") && document.querySelectorAll("#results .card").length === 48);

  const other = await open("/preview", { token: shop.token });
  await says(other, "#total", "90 products");
  await facet(other, "Color", ["green 60", "red 30"]);
  await box(other, "Color", "red").check();
  await says(other, "#total", "30 products");
  await other.selectOption("#sort", "-price");
  await until(other, "the most expensive first", () => document.querySelector("#results .card-title").textContent === "Mug number 87");
  await other.goBack();
  await until(other, "newest first again", () => document.querySelector("#sort").value === "newest" && location.hash.includes("red"));
  await other.goBack();
  await says(other, "#total", "90 products in the shop");
  assert.equal(await box(other, "Color", "red").isChecked(), false);
  await other.goForward();
  await says(other, "#total", "30 products");
  assert.ok(await box(other, "Color", "red").isChecked());
});

test("the keyboard keeps its place while the counts change", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await facet(page, "Color", ["blue 2", "grey 2", "brown 1"]);
  await box(page, "Color", "grey").focus();
  await page.keyboard.press("Space");
  await cards(page, ["Grey chair", "Steel table"]);
  await until(page, "the box has the focus and is checked", () => document.activeElement.dataset.control === "color=grey" && document.activeElement.checked);
  await page.keyboard.press("Space");
  await cards(page, ALL);
  await page.keyboard.press("/");
  await until(page, "the search has the focus", () => document.activeElement.id === "query");
});

test("words and filters work together", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await page.fill("#query", "chair under $100");
  await facet(page, "Material", ["oak 1", "steel 1", "wool 1"]);
  await box(page, "Material", "wool").check();
  await cards(page, ["Blue chair"]);
  assert.deepEqual(await chips(page), ["under $100", "Material: wool"]);
  await page.getByRole("button", { name: "Remove: under $100" }).click();
  await until(page, "the condition is gone", () => document.querySelector("#query").value === "chair" && !document.querySelector(".chip-price"));
  await cards(page, ["Blue chair"]);
  assert.deepEqual(await chips(page), ["Material: wool"]);
});

test("a product shows its attributes and links to its page", async () => {
  const shop = await furniture();
  const page = await open("/preview#q=grey+chair", { token: shop.token });
  await page.locator("#results .card").first().click();
  await says(page, "dialog[open] .detail-attributes", "steel");
  await says(page, "dialog[open] .detail-attributes", "C-2");
  const link = page.getByRole("link", { name: "Go to the product’s page" });
  assert.equal(await link.getAttribute("href"), "https://shop.example/c-2");
  assert.match(await link.getAttribute("rel"), /noreferrer/);
  await accessible(page, "product with attributes");
  await picture(page, "product-attributes");
});

test("on a phone, the filters are in a drawer", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token, phone: true });
  await cards(page, ALL);
  assert.equal(await page.locator("#filters").isVisible(), false);
  await page.getByRole("button", { name: "Filters" }).click();
  await until(page, "the drawer has the focus", () => document.querySelector("dialog.drawer[open]")?.contains(document.activeElement));
  await accessible(page, "drawer");
  await fits(page);
  await box(page, "Color", "blue").check();
  await says(page, ".drawer-foot", "Show 2 products");
  await picture(page, "drawer");
  // What is behind the drawer cannot be reached.
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.querySelector("dialog[open]").contains(document.activeElement)));
  }
  await page.keyboard.press("Escape");
  await until(page, "the drawer is closed and its button has the focus", () => !document.querySelector("dialog[open]") && document.activeElement.id === "open-filters");
  await cards(page, ["Blue stool", "Blue chair"]);
  await says(page, "#filter-count", "1");
  await accessible(page, "after the drawer");
  await picture(page, "drawer-closed");
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.locator(".drawer").getByRole("button", { name: "Clear all" }).click();
  await page.getByRole("button", { name: "Show 5 products" }).click();
  await cards(page, ALL);
});

test("hostile attributes are shown and never run", async () => {
  const shop = await newShop();
  const value = `<img src=x onerror="window.hacked=1">`;
  await shop.create({ title: "Mug", price: "$1", key: "<b>k</b>", attributes: { color: value } });
  await shop.create({ title: "Cup", price: "$1", attributes: { color: "red" } });
  const page = await open("/preview", { token: shop.token });
  await facet(page, "Color", [`${value} 1`, "red 1"]);
  await page.getByRole("group", { name: "Color" }).getByRole("checkbox").first().check();
  await cards(page, ["Mug"]);
  assert.deepEqual(await chips(page), [`Color: ${value}`]);
  await page.locator("#results .card").click();
  await says(page, "dialog[open] .detail-attributes", value);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("nothing moves while facets arrive and filters change", async () => {
  const shop = await furniture();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  await facet(page, "Color", ["blue 2", "grey 2", "brown 1"]);
  await page.fill("#query", "chair");
  await until(page, "chairs", () => document.querySelectorAll("#results .card").length === 2);
  const place = () => page.locator("#results .card").first().evaluate((card) => [card.getBoundingClientRect().left, card.getBoundingClientRect().top]);
  const before = await place();
  await box(page, "Material", "wool").check();
  await cards(page, ["Blue chair"]);
  assert.deepEqual(await place(), before);
});

for (const dark of [false, true]) {
  for (const phone of [false, true]) {
    const name = `${dark ? "dark" : "light"}-${phone ? "phone" : "screen"}`;
    test(`facets fit and are accessible: ${name}`, async () => {
      const shop = await furniture();
      const long = "Aufbewahrungsschränkchenbeschriftungsetikettenhalter";
      const colors = Array.from({ length: 15 }, (_, n) => `shade ${n}`);
      await shop.create({ title: "Box", price: "$5", attributes: { color: [long, ...colors], material: long } });
      const page = await open("/preview#f.material=steel&price=..500&currency=USD", { token: shop.token, dark, phone });
      await cards(page, ["Grey chair", "Steel table"]);
      await fits(page);
      await accessible(page, name);
      await picture(page, `filters-${name}`);
      if (phone) await page.getByRole("button", { name: /^Filters/ }).click();
      await page.locator(phone ? ".drawer" : "#chips").getByRole("button", { name: "Clear all" }).click();
      await page.getByRole("button", { name: /^All \d+: Color/ }).click();
      await until(page, "all values", () => [...document.querySelectorAll(".facet-value")].length > 15);
      await fits(page);
      await accessible(page, `${name}, all values`);
      await picture(page, `filters-all-${name}`);
    });
  }
}
