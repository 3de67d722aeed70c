// The pictures of the documentation, made from the demo: `make screenshots`.

import { createRequire } from "node:module";

const { TARGET_ADDRESS: address, TARGET_TOKEN: token, BROWSER_TOOLS: tools, BROWSER: executablePath } = process.env;
const { chromium } = createRequire(`${tools}/`)("playwright-core");
const folder = new URL("../../docs/images/", import.meta.url).pathname;

const SCREEN = { width: 1200, height: 760 };
const PHONE = { width: 390, height: 760 };
const WANTED = "a cosy scarf under $40, not black";
const ASKED = ["coffee", "warm blanket under $50", "gift for a gardener", "desk lamp", "runing shoes", "cheapest headphones"];
/// Samples that make a chart worth a look.
const READINGS = 12;

// Chromium refuses to run as root with its sandbox.
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

async function take(name, path, { viewport = SCREEN, dark = false } = {}, prepare) {
  const context = await browser.newContext({ viewport, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce" });
  await context.addInitScript((value) => sessionStorage.setItem("shopkeeper.token", JSON.stringify(value)), token);
  const page = await context.newPage();
  await page.goto(address + path);
  await prepare(page);
  await page.waitForFunction(() => [...document.images].every((image) => image.complete || image.loading === "lazy"));
  await page.screenshot({ path: `${folder}${name}.png` });
  await context.close();
}

async function search(page, query) {
  await page.locator("#results .card").first().waitFor();
  const answered = page.waitForResponse((response) => response.request().postData()?.includes(JSON.stringify(query)));
  await page.fill("#query", query);
  await answered;
  await page.locator(".chip").first().waitFor();
  // Pictures that are in sight have come.
  await page.waitForFunction(() => [...document.querySelectorAll("#results .picture img")].slice(0, 8).every((image) => image.complete && image.naturalWidth > 0));
}

function ask() {
  const query = ASKED[Math.floor(Math.random() * ASKED.length)];
  return fetch(`${address}/api/v1/search`, { method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: JSON.stringify({ query }) });
}

await take("shop", "/", {}, (page) => search(page, WANTED));
await take("shop-phone", "/", { viewport: PHONE, dark: true }, (page) => search(page, WANTED));
await take("admin", "/admin", {}, async (page) => {
  await page.locator("tbody tr").first().waitFor();
  for (const place of [1, 2]) await page.locator("tbody tr input").nth(place).check();
});
await take("search-lab", "/admin#/search", {}, async (page) => {
  await page.fill("#lab-query", "warm scarf for running under $40");
  await page.locator(".score-bar").first().waitFor();
});
await take("dashboard", "/admin#/dashboard", {}, async (page) => {
  for (let reading = 0; reading < READINGS; reading += 1) {
    const read = page.waitForResponse((response) => response.url().endsWith("/figures"));
    for (let count = 20 + Math.floor(Math.random() * 40); count > 0; count -= 1) await (await ask()).text();
    await read;
  }
  await page.locator(".line-second").first().waitFor();
});
await browser.close();
