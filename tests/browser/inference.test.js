// What the service infers, on the pages: chips of what was understood, facets of categories and inferred attributes,
// and what the admin page shows of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, cards, fits, newShop, open, picture, says, until } from "./harness.js";

/// Newest last. The merchant says nothing about colors and materials; categories are stated, so that they are known.
const GOODS = [
  ["Navy velvet armchair", "Furniture > Chairs"],
  ["Red velvet armchair", "Furniture > Chairs"],
  ["Green linen sofa", "Furniture > Sofas"],
  ["Black linen dress", "Apparel & Accessories > Clothing > Dresses"],
];
const ALL = ["Black linen dress", "Green linen sofa", "Red velvet armchair", "Navy velvet armchair"];

async function mixed() {
  const shop = await newShop();
  for (const [title, category] of GOODS) {
    await shop.create({ title, price: "$50.00", attributes: { google_product_category: category } });
  }
  return shop;
}

const group = (page, name) => page.getByRole("group", { name, exact: true });
const inferred = (page) => page.locator("#chips .chip-inferred").allTextContents();
/// The label with this text and a count, or without one.
const choice = (page, facet, text, kind) => group(page, facet).getByRole(kind, { name: new RegExp(`^${text}( |$)`) });

test("what the thing should be is shown as chips and switched off, also in the address", async () => {
  const shop = await mixed();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  await page.fill("#query", "navy velvet armchair");
  await until(page, "the attributes are chips", () => {
    const labels = [...document.querySelectorAll("#chips .chip-inferred")].map((chip) => chip.textContent);
    return labels.includes("Color: blue") && labels.includes("Material: velvet");
  });
  await until(page, "the navy one first", () => document.querySelector("#results .card-title").textContent === "Navy velvet armchair");
  await accessible(page, "inferred chips");
  await picture(page, "inferred-chips");
  await page.getByRole("button", { name: "Remove: Color: blue" }).click();
  await until(page, "no inferred chips", () => document.querySelectorAll("#chips .chip-inferred").length === 0);
  assert.equal(await page.inputValue("#query"), "navy velvet armchair");
  await until(page, "the address has it", () => new URLSearchParams(location.hash.slice(1)).get("off") === "attributes");
  await page.reload();
  await until(page, "the products are there again", () => document.querySelectorAll("#results .card").length > 0);
  assert.deepEqual(await inferred(page), []);
  // Other words are read again.
  await page.fill("#query", "red armchair");
  await until(page, "a color again", () => [...document.querySelectorAll("#chips .chip-inferred")].some((chip) => chip.textContent === "Color: red"));
  await until(page, "the address has nothing off", () => !location.hash.includes("off="));
});

test("what must be is a condition that can be taken back", async () => {
  const shop = await mixed();
  const page = await open("/preview#q=only+green+armchair", { token: shop.token });
  await until(page, "a condition", () => [...document.querySelectorAll("#chips .chip-inferred")].some((chip) => chip.textContent === "Color: only green"));
  await until(page, "green ones alone", () => [...document.querySelectorAll("#results .card-title")].every((title) => title.textContent.startsWith("Green")));
  await page.getByRole("button", { name: "Remove: Color: only green" }).click();
  await until(page, "armchairs of any color", () => [...document.querySelectorAll("#results .card-title")].some((title) => title.textContent.includes("armchair")));
});

test("categories are chosen on the way down, and inferred attributes are facets", async () => {
  const shop = await mixed();
  const page = await open("/preview", { token: shop.token });
  await cards(page, ALL);
  await choice(page, "Category", "Furniture", "radio").check();
  await cards(page, ["Green linen sofa", "Red velvet armchair", "Navy velvet armchair"]);
  await choice(page, "Category", "Chairs", "radio").check();
  await cards(page, ["Red velvet armchair", "Navy velvet armchair"]);
  assert.deepEqual(await page.locator("#chips .chip-filter").allTextContents(), ["Category: Chairs"]);
  assert.ok(await choice(page, "Category", "Chairs", "radio").isChecked());
  await accessible(page, "categories");
  await picture(page, "categories");
  await choice(page, "Color", "red", "checkbox").check();
  await cards(page, ["Red velvet armchair"]);
  await page.reload();
  await cards(page, ["Red velvet armchair"]);
  await until(page, "the chips have names", () => document.querySelector("#chips").textContent.includes("Category: Chairs"));
  await choice(page, "Color", "red", "checkbox").uncheck();
  await choice(page, "Category", "Furniture", "radio").check();
  await cards(page, ["Green linen sofa", "Red velvet armchair", "Navy velvet armchair"]);
  await choice(page, "Category", "All", "radio").check();
  await cards(page, ALL);
  await until(page, "the address has no category", () => !location.hash.includes("category"));
});

test("a product shows what was inferred", async () => {
  const shop = await mixed();
  const page = await open("/preview#q=green+sofa", { token: shop.token });
  await page.locator("#results .card").first().click();
  await says(page, "dialog[open] .detail-attributes", "Furniture › Sofas");
  await says(page, "dialog[open] .detail-attributes", "linen");
  await accessible(page, "product with category");
});

test("the admin page marks what was inferred, and does not edit it", async () => {
  const shop = await mixed();
  const page = await open("/admin", { token: shop.token });
  await says(page, "tbody .row-inferred", "Inferred");
  await says(page, "tbody .row-inferred", "Apparel & Accessories › Clothing › Dresses");
  await says(page, "tbody .row-inferred", "Color: black");
  await accessible(page, "catalog with inferred values");
  await fits(page);
  await page.locator("tbody .link").first().click();
  await says(page, "dialog[open] .editor-inferred", "Color: black");
  await page.fill("#product-title", "White linen dress");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await says(page, "tbody .row-inferred", "Color: white");
  const { attributes } = (await shop.list()).find(({ title }) => title === "White linen dress");
  assert.deepEqual(Object.keys(attributes), ["google_product_category"]);
});

test("the search lab shows the second stage and switches attributes off", async () => {
  const shop = await mixed();
  const page = await open("/admin#/search", { token: shop.token });
  await page.fill("#lab-query", "navy armchair");
  await says(page, ".readings", "Color: blue");
  await says(page, ".score-parts", "coverage");
  await says(page, ".score-attributes", "color");
  await accessible(page, "search lab with the second stage");
  await picture(page, "search-lab-rerank");
  await page.getByRole("checkbox", { name: "Attributes" }).uncheck();
  await until(page, "no attributes", () => document.querySelector(".reading-inferred") === null && document.querySelector(".score-attributes") === null);
});

for (const dark of [false, true]) {
  for (const phone of [false, true]) {
    const name = `${dark ? "dark" : "light"}-${phone ? "phone" : "screen"}`;
    test(`inferred chips and categories fit and are accessible: ${name}`, async () => {
      const shop = await mixed();
      const page = await open("/preview#q=navy+velvet+armchair&f.category=fr", { token: shop.token, dark, phone });
      await until(page, "chips", () => document.querySelectorAll("#chips .chip-inferred").length > 0);
      await fits(page);
      await accessible(page, name);
      if (phone) await page.getByRole("button", { name: /^Filters/ }).click();
      await choice(page, "Category", "Furniture", "radio").waitFor();
      await accessible(page, `${name}, categories`);
      await picture(page, `inferred-${name}`);
    });
  }
}
