// The other views of the admin page: imports, tokens, the dashboard, the search lab.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { accessible, address, newShop, open, picture, says, until } from "./harness.js";

const REFUSED = [/401 \(Unauthorized\)/];

const button = (page, name) => page.getByRole("button", { name, exact: true });
const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
const lines = (count, make) => Array.from({ length: count }, (_, n) => JSON.stringify(make(n))).join("\n");
const total = async (shop) => (await shop.call("GET", "/figures")).products.visible;

test("a CSV file is mapped and imported, and what was refused can be saved", async () => {
  const shop = await newShop();
  const page = await open("/admin#/import", { token: shop.token });
  const rows = ["name;cost;details", "Red mug;5;\"red; and round\"", "Blue mug;;blue", "Green mug;€7;"];
  await page.setInputFiles("#file", file("mugs.csv", rows.join("\r\n")));
  await says(page, "#view", "CSV, semicolons");
  assert.equal(await page.inputValue("#map-title"), "name");
  await page.selectOption("#map-price", "cost");
  await page.selectOption("#map-currency", "USD");
  await says(page, ".preview-price", "5 USD");
  await accessible(page, "import preview");
  await picture(page, "import-preview");
  await button(page, "Import").click();
  await says(page, ".progress-state", "Done: 2 products created, 1 refused.");
  await says(page, "#view tbody", "is required");
  await accessible(page, "import done");
  await picture(page, "import-done");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: /Errors as a file/ }).click();
  const errors = await readFile(await (await saved).path(), "utf8");
  assert.equal(errors, 'line,field,code,message\r\n"3","price","required","is required"');
  const created = (await shop.list()).map(({ title, price, description }) => [title, price, description]);
  assert.deepEqual(created, [["Red mug", "5 USD", "red; and round"], ["Green mug", "€7", ""]]);
});

test("JSON is imported as lines and as an array, in batches", async () => {
  const shop = await newShop();
  const page = await open("/admin#/import", { token: shop.token });
  const batches = [];
  page.on("request", (request) => request.url().endsWith("/bulk") && batches.push(JSON.parse(request.postData()).products.length));
  await page.setInputFiles("#file", file("goods.jsonl", lines(250, (n) => ({ title: `Mug ${n}`, price: "$5" }))));
  await says(page, "#view", "JSON Lines");
  await button(page, "Import").click();
  await says(page, ".progress-state", "Done: 250 products created.");
  assert.deepEqual(batches, [100, 100, 50]);
  await button(page, "Import another file").click();
  const goods = [{ title: "Teapot", price: "$9", hidden: false, media: [] }, { title: "Kettle", price: 12 }, "nothing"];
  await page.setInputFiles("#file", file("goods.json", JSON.stringify(goods, null, 2)));
  await says(page, "#view", "JSON array");
  await button(page, "Import").click();
  await says(page, ".progress-state", "Done: 1 product created, 2 refused.");
  assert.equal(await total(shop), 251);
});

test("an import goes on after its token has ended", async () => {
  const shop = await newShop();
  const token = await shop.issue("EDITOR");
  const page = await open("/admin#/import", { token, expected: REFUSED });
  await page.setInputFiles("#file", file("goods.jsonl", lines(300, (n) => ({ title: `Mug ${n}`, price: "$5" }))));
  await says(page, "#view", "JSON Lines");
  let sent = 0;
  await page.route("**/products/bulk", async (route) => {
    sent += 1;
    if (sent === 2) await shop.revoke(token);
    await route.continue();
  });
  await button(page, "Import").click();
  await says(page, "dialog [role=alert]", "not valid");
  await page.fill("#token", await shop.issue("EDITOR"));
  await page.keyboard.press("Enter");
  await says(page, ".progress-state", "Done: 300 products created.");
  assert.equal(await total(shop), 300);
});

test("an import that was cut off by a reload goes on with the same file, and doubles nothing", async () => {
  const shop = await newShop();
  const page = await open("/admin#/import", { token: shop.token });
  const goods = file("goods.jsonl", lines(300, (n) => ({ title: `Mug ${n}`, price: "$5" })));
  await page.setInputFiles("#file", goods);
  await says(page, "#view", "JSON Lines");
  let sent = 0;
  let stopped;
  const held = new Promise((resolve) => { stopped = resolve; });
  await page.route("**/products/bulk", async (route) => {
    sent += 1;
    if (sent !== 2) return route.continue();
    // Stored, but the answer is lost with the page.
    await fetch(`${address}/api/v1/products/bulk`, { method: "POST", headers: await route.request().allHeaders(), body: route.request().postData() });
    return stopped();
  });
  await button(page, "Import").click();
  await held;
  assert.equal(await total(shop), 200);
  await page.reload();
  await says(page, "#view", "stopped after line 100");
  await picture(page, "import-left");
  // The same file has the same time, too.
  await page.evaluate(({ text }) => {
    const run = JSON.parse(sessionStorage.getItem("shopkeeper.import"));
    const again = new File([text], run.file.name, { lastModified: run.file.lastModified });
    const list = new DataTransfer();
    list.items.add(again);
    const input = document.getElementById("file");
    input.files = list.files;
    input.dispatchEvent(new Event("change"));
  }, { text: goods.buffer.toString() });
  await says(page, ".progress-state", "Done: 300 products created.");
  assert.equal(await total(shop), 300);
});

test("an import can be cancelled", async () => {
  const shop = await newShop();
  const page = await open("/admin#/import", { token: shop.token });
  await page.setInputFiles("#file", file("goods.jsonl", lines(300, (n) => ({ title: `Mug ${n}`, price: "$5" }))));
  await says(page, "#view", "JSON Lines");
  let asked;
  const second = new Promise((resolve) => { asked = resolve; });
  let sent = 0;
  await page.route("**/products/bulk", (route) => {
    sent += 1;
    return sent === 1 ? route.continue() : asked();
  });
  await button(page, "Import").click();
  await second;
  await says(page, "#view", "100 created");
  await button(page, "Cancel").click();
  await says(page, ".progress-state", "Cancelled after line 100");
  assert.equal(await total(shop), 100);
});

test("tokens are issued, work, and are revoked", async () => {
  const shop = await newShop();
  const page = await open("/admin#/tokens", { token: shop.token });
  await page.fill("#token-name", "<b>web shop</b>");
  await page.selectOption("#token-role", "VIEWER");
  await button(page, "Issue").click();
  await page.locator("#issued").waitFor();
  const token = await page.inputValue("#issued");
  await accessible(page, "issued token");
  const status = () => fetch(`${address}/api/v1/products`, { headers: { Authorization: `Bearer ${token}` } }).then((answer) => answer.status);
  assert.equal(await status(), 200);
  await button(page, "I have kept it").click();
  await says(page, "tbody", "<b>web shop</b>");
  const number = token.split("_")[1];
  await button(page, `Revoke token ${number}`).click();
  await button(page, "Revoke").click();
  await says(page, `tr[data-token="${number}"]`, "Revoked");
  assert.equal(await status(), 401);
  const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }) + document.body.textContent + location.href);
  assert.ok(!kept.includes(token), "nothing of the new token is left in the page");
});

test("the dashboard follows what happens", async () => {
  const shop = await newShop();
  await shop.create({ title: "Sofa", price: "$5" });
  await shop.create({ title: "Stool", price: "$5", hidden: true });
  const page = await open("/admin#/dashboard", { token: shop.token });
  await says(page, "#view", "1 visible, 1 hidden");
  await says(page, "#view", "0 since the start");
  // The products of all tests before, which take 30 ms each where the processor has no wide instructions.
  await says(page, "#view", "Up to date", 300_000);
  await shop.call("POST", "/search", { query: "sofa" });
  await shop.call("POST", "/search", { query: "sofa" });
  await until(page, "two searches are counted", () => [...document.querySelectorAll(".tile")].some((tile) => tile.textContent.includes("Searches") && tile.textContent.includes("2 since the start")));
  await until(page, "the time to answer is drawn", () => document.querySelectorAll(".line-second").length > 0);
  await until(page, "memory is drawn", () => [...document.querySelectorAll(".tile")].some((tile) => tile.textContent.includes("Memory") && tile.querySelector(".line-main")));
});

test("the search lab shows how a query is read and switches parts off", async () => {
  const shop = await newShop();
  await shop.create({ title: "Red shoes", price: "$40", description: "canvas" });
  await shop.create({ title: "Brown shoes", price: "$45", description: "leather" });
  const page = await open("/admin#/search", { token: shop.token });
  await page.fill("#lab-query", "schuhe ohne leder");
  await says(page, ".readings", "language: German");
  await page.fill("#lab-query", "shoes under $50 without leather");
  await says(page, ".readings", "searched for: shoes");
  await says(page, ".readings", "under $50");
  await says(page, ".readings", "not leather");
  await until(page, "one product", () => document.querySelectorAll(".explained-item").length === 1);
  await says(page, ".score-parts", "shoe");
  const [whole, parts] = await page.locator(".score-bar").evaluate((bar) => [bar.offsetWidth, [...bar.children].map((part) => part.getBoundingClientRect().width)]);
  assert.ok(parts[0] > 0, "words speak for it");
  assert.ok(Math.abs(parts.reduce((sum, part) => sum + part, 0) - whole) < 2, "the best product's bar is full");
  await accessible(page, "search lab");
  await picture(page, "search-lab");
  await page.getByRole("checkbox", { name: "Exclusions" }).uncheck();
  await until(page, "two products", () => document.querySelectorAll(".explained-item").length === 2);
  await page.reload();
  assert.equal(await page.inputValue("#lab-query"), "shoes under $50 without leather");
  await until(page, "two products", () => document.querySelectorAll(".explained-item").length === 2);
});
