// How is a page tested? In a real browser, against a real server: this starts the one, knows the other, and
// makes sure after each test that nothing went wrong behind the scenes.
//
// Nothing here sleeps: every wait is for something to become true.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, afterEach, before } from "node:test";
import { promisify } from "node:util";

const { TARGET_ADDRESS: address, TARGET_DATA: data, TARGET_BINARY: binary, BROWSER_TOOLS: tools, BROWSER: executablePath, BROWSER_OUTPUT: output } = process.env;
export { address };

const require = createRequire(`${tools}/`);
const { chromium } = require("playwright-core");
const axeSource = require.resolve("axe-core/axe.min.js");

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1280, height: 860 };
const PATIENCE_MS = 15_000;
/// Chromium refuses to run as root with its sandbox.
const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

let browser;
let contexts = [];

before(async () => {
  await mkdir(output, { recursive: true });
  browser = await chromium.launch({ executablePath, args: sandbox });
});
after(() => browser.close());
afterEach(async () => {
  const opened = contexts;
  contexts = [];
  for (const { context } of opened) await context.close();
  for (const { faults } of opened) assert.deepEqual(faults, []);
});

let lastShop = Number(process.pid) * 1000;

/// A shop of its own, with tokens and a client for each role.
export async function newShop() {
  lastShop += 1;
  const shop = String(lastShop);
  const issue = async (role, ...more) => {
    const { stdout } = await promisify(execFile)(binary, ["token", "create", "--data", data, "--shop", shop, "--role", role, ...more]);
    return stdout.trim();
  };
  const admin = await issue("ADMIN");
  const call = async (method, path, body) => {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    issue,
    call,
    token: admin,
    create: (product) => call("POST", "/products", { description: "", ...product }),
    list: () => call("GET", "/products?limit=100"),
    revoke: (token) => call("DELETE", `/tokens/${token.split("_")[1]}`),
  };
}

/// Opens a page. What its console complains of, and every request that leaves the server, is a fault at the end
/// of the test, except what `expected` allows.
export async function open(path, { token, phone = false, dark = false, locale = "en-US", expected = [] } = {}) {
  const context = await browser.newContext({ viewport: phone ? PHONE : SCREEN, colorScheme: dark ? "dark" : "light", acceptDownloads: true, hasTouch: phone, locale });
  context.setDefaultTimeout(PATIENCE_MS);
  const faults = [];
  contexts.push({ context, faults });
  if (token) {
    await context.addInitScript((value) => {
      if (sessionStorage.getItem("begun")) return;
      sessionStorage.setItem("begun", "yes");
      sessionStorage.setItem("shopkeeper.token", JSON.stringify(value));
    }, token);
  }
  const page = await context.newPage();
  const allowed = (text) => expected.some((pattern) => pattern.test(text));
  const fault = (text) => allowed(text) || faults.push(text);
  page.on("pageerror", (error) => fault(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && fault(`console: ${message.text()} ${message.location().url}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== address && !["blob:", "data:"].includes(url.protocol)) fault(`request: ${request.url()}`);
    if (request.url().includes("shk_")) faults.push(`a token in an address: ${request.url()}`);
  });
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(address + path);
  return page;
}

/// Waits until something holds.
export async function until(page, what, check, argument, timeout = PATIENCE_MS) {
  await page.waitForFunction(check, argument, { timeout }).catch((error) => assert.fail(`${what}: ${error.message}`));
}

/// Waits until the page says this in an element.
export async function says(page, selector, text, timeout = PATIENCE_MS) {
  await until(page, `${selector} says ${text}`, ([where, wanted]) => document.querySelector(where)?.textContent.includes(wanted), [selector, text], timeout);
}

/// The titles of the cards, once they are these.
export async function cards(page, titles) {
  const read = () => [...document.querySelectorAll("#results .card-title")].map((title) => title.textContent);
  await page.waitForFunction((wanted) => {
    const found = [...document.querySelectorAll("#results .card-title")].map((title) => title.textContent);
    return JSON.stringify(found) === JSON.stringify(wanted);
  }, titles).catch(async () => assert.deepEqual(await page.evaluate(read), titles));
}

/// No barrier that axe calls serious or critical.
export async function accessible(page, name) {
  // Through the browser's own tools, which the page's policy does not bind.
  const script = (await import("node:fs")).readFileSync(axeSource, "utf8");
  await page.evaluate(script);
  // Colours are those at the end of animations.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity).map((one) => one.finished)));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map((node) => node.target).join(" ")}: ${nodes[0].failureSummary}`), []);
}

/// Neither the page nor an open dialog scrolls sideways.
export async function fits(page) {
  const [needed, given] = await page.evaluate(() => {
    const all = [document.documentElement, ...document.querySelectorAll("dialog[open]")];
    const { scrollWidth, clientWidth } = all.find((one) => one.scrollWidth > one.clientWidth) ?? all[0];
    return [scrollWidth, clientWidth];
  });
  const widest = () => [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((element) => element.outerHTML.slice(0, 100));
  assert.ok(needed <= given, `${needed} pixels wide on a screen of ${given}: ${needed > given ? await page.evaluate(widest) : ""}`);
}

export async function picture(page, name) {
  await page.screenshot({ path: `${output}/${name}.png` });
}
