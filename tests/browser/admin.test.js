// The admin page: browse, create, edit, hide, delete, bulk actions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, fits, newShop, open, picture, says, until } from "./harness.js";

const REFUSED = [/401 \(Unauthorized\)/, /403 \(Forbidden\)/];
const FAULTY = [/422 \(Unprocessable/];
const STALE = [/412 \(Precondition/];

const button = (page, name) => page.getByRole("button", { name, exact: true });
const toast = (page, text) => says(page, "#toasts", text);

async function titles(page, expected) {
  await page.waitForFunction((wanted) => {
    const found = [...document.querySelectorAll("tbody .link")].map((link) => link.textContent);
    return JSON.stringify(found) === JSON.stringify(wanted);
  }, expected).catch(async () => assert.deepEqual(await page.locator("tbody .link").allTextContents(), expected));
}

const closed = (page) => until(page, "no dialog is open", () => !document.querySelector("dialog[open]"));

test("a token whose role is not enough is asked for again", async () => {
  const shop = await newShop();
  const page = await open("/admin", { token: await shop.issue("VIEWER"), expected: REFUSED });
  await says(page, "dialog [role=alert]", "role is not enough");
  await page.fill("#token", await shop.issue("EDITOR"));
  await page.keyboard.press("Enter");
  await says(page, "#who", "EDITOR");
  await says(page, "#view", "The catalog is empty");
  assert.equal(await page.getByRole("link", { name: "Tokens" }).count(), 0);
});

test("a product is created, edited, hidden, shown and deleted", async () => {
  const shop = await newShop();
  const page = await open("/admin", { token: shop.token, expected: FAULTY });
  await button(page, "New product").click();
  await page.fill("#product-title", "Linen sofa");
  await page.fill("#product-price", "many");
  await page.fill("#product-description", "Three seats.");
  await accessible(page, "editor");
  await button(page, "Create").click();
  await says(page, "#product-price-error", "currency");
  assert.equal(await page.getAttribute("#product-price", "aria-invalid"), "true");
  await picture(page, "editor-error");
  await page.fill("#product-price", "$899.00");
  await button(page, "Create").click();
  await toast(page, "Created.");
  await titles(page, ["Linen sofa"]);

  await button(page, "Edit: Linen sofa").click();
  await page.fill("#product-title", "Linen couch");
  await button(page, "Save").click();
  await titles(page, ["Linen couch"]);
  assert.equal((await shop.list())[0].description, "Three seats.");

  await button(page, "Hide: Linen couch").click();
  await says(page, "tbody", "Hidden");
  assert.equal((await shop.list())[0].hidden, true);
  await button(page, "Show: Linen couch").click();
  await says(page, "tbody", "Visible");

  await button(page, "Delete: Linen couch").click();
  await button(page, "Keep").click();
  await titles(page, ["Linen couch"]);
  await button(page, "Delete: Linen couch").click();
  await accessible(page, "question");
  await button(page, "Delete").click();
  await says(page, "#view", "The catalog is empty");
  assert.deepEqual(await shop.list(), []);
});

test("a half-filled form survives a reload", async () => {
  const shop = await newShop();
  const page = await open("/admin", { token: shop.token });
  await button(page, "New product").click();
  await page.fill("#product-title", "Half a");
  await page.fill("#product-description", "thought");
  await page.reload();
  await says(page, "dialog[open]", "still here");
  assert.equal(await page.inputValue("#product-title"), "Half a");
  assert.equal(await page.inputValue("#product-description"), "thought");
  await page.fill("#product-title", "Half a thought");
  await page.fill("#product-price", "€1");
  await button(page, "Create").click();
  await titles(page, ["Half a thought"]);
  await page.reload();
  await titles(page, ["Half a thought"]);
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("a token that ends while one writes is asked for, and the product is stored once", async () => {
  const shop = await newShop();
  const token = await shop.issue("EDITOR");
  const page = await open("/admin", { token, expected: REFUSED });
  await button(page, "New product").click();
  await page.fill("#product-title", "Sofa");
  await page.fill("#product-price", "$5");
  await shop.revoke(token);
  await button(page, "Create").click();
  await says(page, "dialog [role=alert]", "not valid");
  await picture(page, "token-again");
  await page.fill("#token", await shop.issue("EDITOR"));
  await page.keyboard.press("Enter");
  await titles(page, ["Sofa"]);
  assert.equal((await shop.list()).length, 1);
});

test("a token that has expired is told from one that is wrong", async () => {
  const shop = await newShop();
  const token = await shop.issue("EDITOR", "--expires-in", "2s");
  const page = await open("/admin", { token, expected: REFUSED });
  await says(page, "#view", "The catalog is empty");
  const status = () => page.evaluate((bearer) => fetch("/api/v1/products", { headers: { Authorization: `Bearer ${bearer}` } }).then((answer) => answer.status), token);
  while ((await status()) !== 401);
  await page.fill("#filter", "sofa");
  await says(page, "dialog [role=alert]", "has expired");
});

test("somebody else's change is not overwritten unseen", async () => {
  const shop = await newShop();
  const { id } = await shop.create({ title: "Sofa", price: "$5" });
  const page = await open("/admin", { token: shop.token, expected: STALE });
  await button(page, "Edit: Sofa").click();
  await page.fill("#product-title", "My sofa");
  await shop.call("PUT", `/products/${id}`, { price: "$6" });
  await button(page, "Save").click();
  await says(page, "dialog[open]", "This product was changed");
  await button(page, "Keep mine").click();
  await says(page, "dialog[open]", "Yours is kept");
  await button(page, "Save").click();
  await titles(page, ["My sofa"]);
});

test("many products are changed at once, and refusals are told item by item", async () => {
  const shop = await newShop();
  const { created_ids: ids } = await shop.call("POST", "/products/bulk", { products: Array.from({ length: 5 }, (_, n) => ({ title: `Mug ${n}`, price: "$5" })) });
  const page = await open("/admin", { token: shop.token });
  await titles(page, ["Mug 4", "Mug 3", "Mug 2", "Mug 1", "Mug 0"]);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await page.getByRole("checkbox", { name: "Select Mug 0" }).uncheck();
  await says(page, ".bulk", "4 products selected");
  await accessible(page, "selection");
  await button(page, "Hide").click();
  await toast(page, "4 products hidden.");
  assert.deepEqual((await shop.list()).map(({ hidden }) => hidden), [false, true, true, true, true]);
  assert.equal(await page.locator(".bulk").isVisible(), false);

  await page.getByRole("checkbox", { name: "Select Mug 0" }).check();
  await page.getByRole("checkbox", { name: "Select Mug 1" }).check();
  await shop.call("DELETE", `/products/${ids[1]}`);
  await button(page, "Set price…").click();
  await page.fill("#bulk-price", "€7");
  await button(page, "Set price").click();
  await says(page, "dialog[open]", "1 change was refused");
  await says(page, "dialog[open]", "there is no such product");
  await accessible(page, "refusals");
  await picture(page, "refusals");
  await button(page, "Close").last().click();
  assert.equal((await shop.list())[0].price, "€7");
  await button(page, "Clear").click();

  await titles(page, ["Mug 4", "Mug 3", "Mug 2", "Mug 0"]);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await button(page, "Delete…").click();
  await button(page, "Delete").click();
  await toast(page, "4 products deleted.");
  await says(page, "#view", "The catalog is empty");
});

test("the catalog is filtered and paged, newest first", async () => {
  const shop = await newShop();
  const make = (from, count, more) => shop.call("POST", "/products/bulk", { products: Array.from({ length: count }, (_, n) => ({ title: `Mug ${from + n}`, price: "$5", ...more })) });
  await make(0, 70);
  await make(70, 3, { hidden: true });
  await shop.create({ title: "Bicycle pump", price: "$9" });
  const page = await open("/admin", { token: shop.token });
  await says(page, ".summary", "1–50 of 74 products");
  await says(page, "tbody tr:first-child", "Bicycle pump");
  await button(page, "Older").click();
  await says(page, ".summary", "51–74 of 74 products");
  await page.reload();
  await says(page, ".summary", "51–74 of 74 products");
  await button(page, "Newer").click();
  await says(page, ".summary", "1–50 of 74 products");
  await page.fill("#filter", "bicycle pump");
  await titles(page, ["Bicycle pump"]);
  await page.fill("#filter", "");
  await page.selectOption("#shown", "hidden");
  await titles(page, ["Mug 72", "Mug 71", "Mug 70"]);
  await page.fill("#filter", "mug 71");
  await until(page, "hidden mugs only", () => [...document.querySelectorAll("tbody tr")].every((row) => row.classList.contains("is-hidden")) && location.hash.includes("71"));
  await page.fill("#filter", "");
  await page.selectOption("#shown", "visible");
  await says(page, ".summary", "1–50 of 71 products");
  await page.fill("#filter", "nothing like it");
  await says(page, "#view", "No product fits");
  await button(page, "Show all products").click();
  await says(page, ".summary", "1–50 of 74 products");
});

test("a hostile product is shown on the admin page and never run", async () => {
  const title = `<img src=x onerror="window.hacked=1">`;
  const shop = await newShop();
  await shop.create({ title, description: "<script>window.hacked=2</script>", price: "$1" });
  const page = await open("/admin", { token: shop.token });
  await titles(page, [title]);
  await button(page, `Edit: ${title}`).click();
  assert.equal(await page.inputValue("#product-title"), title);
  await page.keyboard.press("Escape");
  await closed(page);
  await button(page, `Delete: ${title}`).click();
  await says(page, "dialog[open]", title);
  await button(page, "Keep").click();
  await page.getByRole("link", { name: "Search lab" }).click();
  await page.fill("#lab-query", "img");
  await says(page, ".explained", title);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("#view img, #view script").count(), 0);
});

for (const dark of [false, true]) {
  for (const phone of [false, true]) {
    const name = `${dark ? "dark" : "light"}-${phone ? "phone" : "screen"}`;
    test(`every view of the admin page fits and is accessible: ${name}`, async () => {
      const shop = await newShop();
      await shop.create({ title: "Aufbewahrungsschränkchenbeschriftungsetikettenhalter", price: "1.299,00 €", description: "x".repeat(300) });
      await shop.create({ title: "Sofa", price: "$5", hidden: true });
      const page = await open("/admin", { token: shop.token, dark, phone });
      const seen = { catalog: "tbody tr", import: ".drop", search: "#lab-query", dashboard: ".chart", tokens: "tbody tr" };
      for (const [view, selector] of Object.entries(seen)) {
        await page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
        await page.locator(`#view ${selector}`).first().waitFor();
        await fits(page);
        await accessible(page, `${name}, ${view}`);
        await picture(page, `admin-${view}-${name}`);
      }
    });
  }
}
