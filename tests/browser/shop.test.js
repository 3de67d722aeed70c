// The shop page, as shoppers use it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, address, cards, fits, newShop, open, picture, says, until } from "./harness.js";

const GOODS = [
  { title: "Wool scarf", price: "$35.00", description: "Keeps the neck warm." },
  { title: "Cotton scarf", price: "$25.00", description: "Light and soft, for spring." },
  { title: "Silk scarf", price: "$80.00", description: "For the evening." },
  { title: "Leather belt", price: "$30.00", description: "Brown, with a buckle." },
];
const REFUSED = [/401 \(Unauthorized\)/];
const NO_DEMO = [/404 \(Not Found\).*\/demo\/session/];

async function shopWith(goods) {
  const shop = await newShop();
  for (const product of goods) await shop.create(product);
  return shop;
}

const queryOf = (page) => page.inputValue("#query");
/// What was said, without what was inferred.
const chips = (page) => page.locator(".chip:not(.chip-inferred)").allTextContents();
const noChips = (page) => until(page, "no chips", () => document.querySelectorAll(".chip:not(.chip-inferred)").length === 0);

test("a server that is no demo leads on to its pages", async () => {
  const page = await open("/", { expected: NO_DEMO });
  await page.getByRole("link", { name: /Shop preview/ }).waitFor();
  assert.equal(await page.getByRole("link", { name: /^Admin/ }).getAttribute("href"), "/admin");
  await accessible(page, "landing");
  await picture(page, "landing");
});

test("a token is asked for, kept out of the address, and results come while one types", async () => {
  const shop = await shopWith(GOODS);
  const token = await shop.issue("SHOPPER");
  const page = await open("/preview", { expected: REFUSED });
  await accessible(page, "token dialog");
  await page.fill("#token", "shk_1_wrong");
  await page.keyboard.press("Enter");
  await says(page, "dialog [role=alert]", "not valid");
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
  await says(page, "#total", "4 products in the shop");
  await page.locator("#query").pressSequentially("belt");
  await cards(page, ["Leather belt"]);
  await says(page, "#total", "1 product");
  assert.ok(!page.url().includes("shk_"));
});

test("what was understood is shown as chips that can be taken back", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await page.fill("#query", "cheapest scarf under $60 without wool");
  await cards(page, ["Cotton scarf"]);
  assert.deepEqual(await chips(page), ["under $60", "not wool", "cheapest first"]);
  await accessible(page, "chips");
  await picture(page, "chips");
  await page.getByRole("button", { name: "Remove: not wool" }).click();
  await cards(page, ["Cotton scarf", "Wool scarf"]);
  assert.equal(await queryOf(page), "cheapest scarf under $60");
  await page.getByRole("button", { name: "Remove: under $60" }).click();
  await cards(page, ["Cotton scarf", "Wool scarf", "Silk scarf"]);
  await page.getByRole("button", { name: "Remove: cheapest first" }).click();
  await noChips(page);
  assert.equal(await queryOf(page), "scarf");
});

test("a word that was corrected can be taken back", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await page.fill("#query", "lether belt");
  await cards(page, ["Leather belt"]);
  assert.deepEqual(await chips(page), ["showing results for leather (instead of lether)"]);
  await picture(page, "correction");
  await page.locator(".chip-correction").click();
  await noChips(page);
  assert.equal(await queryOf(page), "lether belt");
});

test("a late answer to an earlier question is never shown", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
  let letGo;
  const held = new Promise((resolve) => { letGo = resolve; });
  let answered;
  const late = new Promise((resolve) => { answered = resolve; });
  await page.route("**/api/v1/search", async (route) => {
    if (JSON.parse(route.request().postData()).query !== "silk") return route.continue();
    await held;
    await route.continue().catch(() => {});
    return answered();
  });
  const asked = page.waitForRequest((request) => request.postData()?.includes("silk"));
  await page.fill("#query", "silk");
  await asked;
  await page.fill("#query", "belt");
  await cards(page, ["Leather belt"]);
  letGo();
  await late;
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await cards(page, ["Leather belt"]);
});

test("everything can be done with the keyboard", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  await page.keyboard.type("scarf");
  await until(page, "three scarves", () => document.querySelectorAll("#results .card").length === 3);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const second = await page.locator("#results .card-title").nth(1).textContent();
  await page.keyboard.press("Enter");
  await says(page, "dialog[open] h2", second);
  await page.keyboard.press("Escape");
  await until(page, "the product is closed", () => !document.querySelector("dialog[open]"));
  assert.equal(await page.evaluate(() => document.activeElement.textContent.includes("scarf")), true);
  await page.keyboard.press("ArrowUp");
  await until(page, "the box has the focus", () => document.activeElement.id === "query");
  await page.keyboard.press("Escape");
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
});

test("a product's own view survives a reload and shows what is like it", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await page.fill("#query", "belt");
  await cards(page, ["Leather belt"]);
  await page.locator("#results .card").click();
  await says(page, "dialog[open] h2", "Leather belt");
  await says(page, "dialog[open]", "Brown, with a buckle.");
  await accessible(page, "product");
  await picture(page, "product");
  await page.reload();
  await says(page, "dialog[open] h2", "Leather belt");
  assert.equal(await queryOf(page), "belt");
  await page.getByRole("button", { name: "Close" }).click();
  await cards(page, ["Leather belt"]);
  await until(page, "the address has no product", () => !location.hash.includes("product="));
});

test("nothing found comes with advice", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token });
  await page.fill("#query", "scarf under $5");
  await says(page, ".empty", "Nothing found");
  await says(page, "#total", "0 products");
  await accessible(page, "empty");
  await picture(page, "empty");
  await page.getByRole("button", { name: "Search without “under $5”" }).click();
  await until(page, "three scarves", () => document.querySelectorAll("#results .card").length === 3);
});

test("more products are shown when asked for, each once", async () => {
  const shop = await newShop();
  await shop.call("POST", "/products/bulk", { products: Array.from({ length: 60 }, (_, n) => ({ title: `Mug number ${n}`, price: "$5" })) });
  const page = await open("/preview", { token: shop.token });
  // Nothing but a condition: better vectors, which arrive meanwhile, change neither order nor total.
  await page.fill("#query", "under $10");
  // The answer, not the window of the shop, which has as many.
  await until(page, "60 products found", () => /60 products in (?!the shop)/.test(document.querySelector("#total").textContent));
  for (const count of [48, 60]) {
    await page.getByRole("button", { name: "Show more" }).click();
    await until(page, `${count} cards`, (wanted) => document.querySelectorAll("#results .card").length === wanted, count);
  }
  await page.getByRole("button", { name: "Show more" }).waitFor({ state: "hidden" });
  const ids = await page.locator("#results .card").evaluateAll((all) => all.map((card) => card.dataset.product));
  assert.equal(new Set(ids).size, 60);
});

test("a product shows those like it", async () => {
  const shop = await shopWith([
    { title: "Grey wool scarf", price: "$20" },
    { title: "Blue wool scarf", price: "$22" },
    { title: "Garden hose, 20 m", price: "$30" },
  ]);
  const page = await open("/preview", { token: shop.token });
  await page.locator("#results .card", { hasText: "Grey wool scarf" }).click();
  await says(page, ".similar", "Similar products");
  await says(page, ".similar", "Blue wool scarf");
  assert.ok(!(await page.locator(".similar").textContent()).includes("Garden hose"));
});

test("a hostile product is shown and never run", async () => {
  const title = `<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>`;
  const shop = await newShop();
  await shop.create({ title, description: "<svg onload=window.hacked=3> javascript:alert(1)", price: "$1", media: [{ url: "https://elsewhere.example/pixel.png", type: "image" }] });
  // The picture is elsewhere: it must be blocked, and nothing else may complain.
  const page = await open("/preview", { token: shop.token, expected: [/elsewhere\.example/] });
  const requests = [];
  page.on("requestfinished", (request) => requests.push(request.url()));
  await cards(page, [title]);
  await page.locator("#results .card").click();
  await says(page, "dialog[open] h2", title);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("dialog[open] script, dialog[open] .detail-about svg").count(), 0);
  assert.deepEqual(requests.filter((url) => !url.startsWith(address)), []);
});

test("an expired token is asked for anew and the search is repeated", async () => {
  const shop = await shopWith(GOODS);
  const [first, second] = [await shop.issue("SHOPPER"), await shop.issue("SHOPPER")];
  const page = await open("/preview", { token: first, expected: REFUSED });
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
  await shop.revoke(first);
  await page.fill("#query", "silk");
  await says(page, "dialog [role=alert]", "not valid");
  await page.fill("#token", second);
  await page.keyboard.press("Enter");
  await cards(page, ["Silk scarf"]);
  assert.equal(await queryOf(page), "silk");
});

test("a server that is away is told of, and asked again", async () => {
  const shop = await shopWith(GOODS);
  const page = await open("/preview", { token: shop.token, expected: [/ERR_FAILED/] });
  await cards(page, ["Leather belt", "Silk scarf", "Cotton scarf", "Wool scarf"]);
  await page.route("**/api/v1/search", (route) => route.abort());
  await page.fill("#query", "silk");
  await says(page, "#notice [role=alert]", "cannot be reached");
  await page.unroute("**/api/v1/search");
  await page.getByRole("button", { name: "Try again" }).click();
  await cards(page, ["Silk scarf"]);
});

for (const dark of [false, true]) {
  for (const phone of [false, true]) {
    const name = `${dark ? "dark" : "light"}, ${phone ? "phone" : "screen"}`;
    test(`the shop fits and is accessible: ${name}`, async () => {
      const long = { title: "Aufbewahrungsschränkchenbeschriftungsetikettenhalter ".repeat(4).trim(), price: "1.299,00 €", description: "x".repeat(400) };
      const shop = await shopWith([...GOODS, long]);
      const page = await open("/preview", { token: shop.token, dark, phone });
      await until(page, "cards", () => document.querySelectorAll("#results .card").length === 5);
      await fits(page);
      await accessible(page, name);
      await picture(page, `shop-${name.replace(", ", "-")}`);
      await page.locator("#results .card").first().click();
      await says(page, "dialog[open] h2", "Aufbewahrung");
      await fits(page);
      await accessible(page, `${name}, product`);
    });
  }
}
