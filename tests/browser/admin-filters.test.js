// The merchant's own data on the admin page: keys, attributes, filters and orders; filters in the lab.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, fits, newShop, open, picture, says, until } from "./harness.js";

const FAULTY = [/422 \(Unprocessable/, /409 \(Conflict/];
const GOODS = [
  { title: "Oak table", price: "$300", key: "T-1", attributes: { color: "brown", width_cm: 160 } },
  { title: "Steel table", price: "$120", key: "T-2", attributes: { color: "grey", width_cm: 120, foldable: true } },
  { title: "Grey chair", price: "$60", key: "C-1", attributes: { color: "grey", foldable: true }, hidden: true },
];

const button = (page, name) => page.getByRole("button", { name, exact: true });

async function furniture() {
  const shop = await newShop();
  for (const product of GOODS) await shop.create(product);
  return shop;
}

async function titles(page, expected) {
  await page.waitForFunction((wanted) => {
    const found = [...document.querySelectorAll("tbody .link")].map((link) => link.textContent);
    return JSON.stringify(found) === JSON.stringify(wanted);
  }, expected).catch(async () => assert.deepEqual(await page.locator("tbody .link").allTextContents(), expected));
}

/// The controls of the row of an attribute, counted from 0.
function row(page, place) {
  const element = page.locator(".attribute-row").nth(place);
  return { name: element.getByLabel("Name of the attribute"), type: element.getByLabel("Type"), value: element.getByLabel("Value"), remove: element.getByRole("button"), error: element.locator(".field-error") };
}

test("a product gets a key, a page and attributes of every type, and they are edited", async () => {
  const shop = await newShop();
  const page = await open("/admin", { token: shop.token, expected: FAULTY });
  await button(page, "New product").click();
  await page.fill("#product-title", "Linen sofa");
  await page.fill("#product-price", "$899");
  await page.fill("#product-key", "SOFA-1");
  await page.fill("#product-url", "https://shop.example/sofa");
  const entered = [["color", "texts", "sand\nwhite"], ["brand", "text", "Haverly"], ["width_cm", "number", "wide"], ["washable", "boolean", "false"]];
  for (const [place, [name, type, value]] of entered.entries()) {
    await button(page, "Add attribute").click();
    const { name: nameInput, type: typeInput } = row(page, place);
    await nameInput.fill(name);
    await typeInput.selectOption(type);
    const control = row(page, place).value;
    if (type === "boolean") await control.selectOption(value);
    else await control.fill(value);
  }
  await accessible(page, "attributes");
  await button(page, "Create").click();
  await until(page, "the number is refused", () => [...document.querySelectorAll(".attribute-row .field-error")].some((error) => error.textContent.includes("must be a number")));
  await picture(page, "attributes-error");
  await row(page, 2).value.fill("218.5");
  await button(page, "Create").click();
  await titles(page, ["Linen sofa"]);
  const [created] = await shop.list();
  assert.equal(created.key, "SOFA-1");
  assert.equal(created.url, "https://shop.example/sofa");
  assert.deepEqual(created.attributes, { brand: "Haverly", color: ["sand", "white"], washable: false, width_cm: 218.5 });
  await says(page, "tbody", "SOFA-1");
  await says(page, "tbody", "Color: sand, white");

  await page.locator("tbody .link").click();
  await until(page, "four rows", () => document.querySelectorAll(".attribute-row").length === 4);
  await row(page, 0).remove.click();
  await row(page, 0).value.fill("sand");
  await page.fill("#product-url", "");
  await button(page, "Save").click();
  await says(page, "#toasts", "Saved.");
  const [edited] = await shop.list();
  assert.deepEqual(edited.attributes, { color: ["sand"], washable: false, width_cm: 218.5 });
  assert.equal(edited.url, undefined);
  assert.equal(edited.key, "SOFA-1");
});

test("what the service refuses is told at its row, and a key that is taken by name", async () => {
  const shop = await furniture();
  const page = await open("/admin", { token: shop.token, expected: FAULTY });
  await button(page, "New product").click();
  await page.fill("#product-title", "Other table");
  await page.fill("#product-price", "$1");
  await page.fill("#product-key", "T-1");
  await button(page, "Add attribute").click();
  await row(page, 0).name.fill("price");
  await row(page, 0).value.fill("5");
  await button(page, "Create").click();
  await until(page, "the name is refused", () => document.querySelector(".attributes").textContent.includes("reserved"));
  await row(page, 0).name.fill("color");
  await button(page, "Create").click();
  await until(page, "the key is refused", () => /T-1|key/i.test(document.querySelector("dialog[open] .notice-bad, #product-key-error")?.textContent ?? ""));
  await page.fill("#product-key", "T-9");
  await button(page, "Create").click();
  await titles(page, ["Other table", "Grey chair", "Steel table", "Oak table"]);
});

test("rows of attributes survive a reload", async () => {
  const shop = await newShop();
  const page = await open("/admin", { token: shop.token });
  await button(page, "New product").click();
  await button(page, "Add attribute").click();
  await row(page, 0).name.fill("color");
  await row(page, 0).type.selectOption("texts");
  await row(page, 0).value.fill("red\nblue");
  await page.reload();
  await says(page, "dialog[open]", "still here");
  assert.deepEqual([await row(page, 0).name.inputValue(), await row(page, 0).type.inputValue(), await row(page, 0).value.inputValue()], ["color", "texts", "red\nblue"]);
});

test("the catalog is filtered by key and attributes, and sorted", async () => {
  const shop = await furniture();
  const page = await open("/admin", { token: shop.token });
  await titles(page, ["Grey chair", "Steel table", "Oak table"]);
  await button(page, "Filters").click();
  await page.getByRole("group", { name: "Color" }).getByRole("checkbox", { name: /^grey / }).check();
  await titles(page, ["Grey chair", "Steel table"]);
  await accessible(page, "catalog filters");
  await picture(page, "catalog-filters");
  await button(page, "Done").click();
  await page.selectOption("#shown", "hidden");
  await titles(page, ["Grey chair"]);
  await page.selectOption("#shown", "visible");
  await titles(page, ["Steel table"]);
  await page.reload();
  await titles(page, ["Steel table"]);
  await picture(page, "catalog-filtered");
  await button(page, "Remove: Color: grey").click();
  await page.selectOption("#shown", "all");
  await titles(page, ["Grey chair", "Steel table", "Oak table"]);
  await page.selectOption("#catalog-sort", "-price");
  await titles(page, ["Oak table", "Steel table", "Grey chair"]);
  await page.selectOption("#catalog-sort", "width_cm");
  await titles(page, ["Steel table", "Oak table", "Grey chair"]);
  await page.reload();
  await titles(page, ["Steel table", "Oak table", "Grey chair"]);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.fill("#filter-key", "C-1");
  await page.keyboard.press("Enter");
  await titles(page, ["Grey chair"]);
  await button(page, "Clear all").click();
  await button(page, "Done").click();
  await titles(page, ["Steel table", "Oak table", "Grey chair"]);
  await page.fill("#filter", "T-2");
  await until(page, "the product with the key first", () => document.querySelector("tbody .link")?.textContent === "Steel table");
});

test("the search lab shows what a filter does, as JSON and as facets", async () => {
  const shop = await furniture();
  const page = await open("/admin#/search", { token: shop.token, expected: FAULTY });
  await page.fill("#lab-query", "table");
  await until(page, "two tables", () => document.querySelectorAll(".explained-item").length === 2);
  await page.fill("#lab-filter", '{"color": ["grey"]');
  await says(page, "#lab-filter-error", "not a JSON object");
  await page.fill("#lab-filter", '{"color": ["grey"]}');
  await until(page, "one table", () => document.querySelectorAll(".explained-item").length === 1);
  await says(page, "#view", "1 product in");
  await says(page, "#view", "2 products without the filter");
  await accessible(page, "search lab with a filter");
  await picture(page, "search-lab-filter");
  await page.getByRole("group", { name: "Color" }).getByRole("checkbox", { name: /^brown / }).check();
  await until(page, "two tables again", () => document.querySelectorAll(".explained-item").length === 2);
  assert.equal(await page.inputValue("#lab-filter"), '{"color":["grey","brown"]}');
  await page.fill("#lab-sort", "width_cm");
  await until(page, "the narrow one first", () => document.querySelector(".explained-title").textContent.includes("Steel table"));
  await page.fill("#lab-filter", '{"color": 5}');
  await says(page, "#view [role=status]", "filter");
  await page.fill("#lab-filter", '{"not": {"color": ["grey"]}}');
  await page.fill("#lab-query", "");
  await says(page, ".readings", "the filter alone");
  await until(page, "the oak table alone", () => document.querySelectorAll(".explained-item").length === 1);
  await page.reload();
  assert.equal(await page.inputValue("#lab-filter"), '{"not": {"color": ["grey"]}}');
});

test("the search lab explains matches of keys and attributes", async () => {
  const shop = await furniture();
  const page = await open("/admin#/search", { token: shop.token });
  await page.fill("#lab-query", "T-2");
  await until(page, "the product with the key first", () => document.querySelector(".explained-title")?.textContent.includes("Steel table"));
  await says(page, ".explained-item", "The query is the key of this product");
  await page.fill("#lab-query", "brown table");
  await until(page, "an attribute is named", () => [...document.querySelectorAll(".score-part")].some((part) => part.textContent.includes("brown") && part.textContent.includes("key or attribute")));
});

for (const dark of [false, true]) {
  for (const phone of [false, true]) {
    const name = `${dark ? "dark" : "light"}-${phone ? "phone" : "screen"}`;
    test(`the forms of attributes fit and are accessible: ${name}`, async () => {
      const shop = await newShop();
      await shop.create({ title: "Sofa", price: "$5", key: "K".repeat(100), attributes: { a_name_of_forty_characters_or_nearly_so: "x".repeat(200), color: ["red", "blue"], width_cm: 12, washable: true } });
      await shop.create({ title: "Chair", price: "$6", attributes: { color: "green" } });
      const page = await open("/admin#/catalog?f.color=red", { token: shop.token, dark, phone });
      await titles(page, ["Sofa"]);
      await fits(page);
      await accessible(page, `${name}, catalog`);
      await picture(page, `admin-attributes-${name}`);
      await page.locator("tbody .link").click();
      await page.locator(".attribute-row").first().scrollIntoViewIfNeeded();
      await fits(page);
      await accessible(page, `${name}, editor`);
      await picture(page, `admin-editor-${name}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Filters/ }).click();
      await page.locator(".drawer .facet").first().waitFor();
      await fits(page);
      await accessible(page, `${name}, drawer`);
      await picture(page, `admin-drawer-${name}`);
    });
  }
}
