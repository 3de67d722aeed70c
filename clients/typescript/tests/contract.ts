/**
 * Does the client work with a real service, operation by operation? It must call every operation
 * that the service's OpenAPI document has.
 *
 * TARGET_ADDRESS is a running demo, TARGET_TOKEN an ADMIN of an empty shop on it; LIMITED_ADDRESS and
 * LIMITED_TOKEN are a service that lets few requests through at once.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { connect, isProblem, orThrow, ProblemError } from "shopkeeper-client";
import type { Filter, NewProduct, Problem, ProductUpsert, Role, Shop } from "shopkeeper-client";

function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

const baseUrl = setting("TARGET_ADDRESS");
const called: { method: string; path: string }[] = [];

function noted(request: Request): Promise<Response> {
  called.push({ method: request.method, path: new URL(request.url).pathname });
  return fetch(request);
}

function shopOf(token: string, readYourWrites = false): Shop {
  return connect({ baseUrl, token, readYourWrites, fetch: noted });
}

const shop = shopOf(setting("TARGET_TOKEN"));

async function withRole(role: Role): Promise<Shop> {
  const issued = await orThrow(shop.POST("/api/v1/tokens", { body: { role, name: `a ${role}` } }));
  return shopOf(issued.token);
}

async function create(product: NewProduct): Promise<number> {
  return (await orThrow(shop.POST("/api/v1/products", { body: product }))).id;
}

/** The problem that a request must have met. */
async function problem(
  answer: Promise<{ error?: unknown; response: Response }>,
  status: number,
): Promise<Problem> {
  const { error, response } = await answer;
  assert.equal(response.status, status);
  assert.equal(response.headers.get("Content-Type"), "application/problem+json");
  assert.ok(isProblem(error));
  assert.equal(error.status, status);
  assert.equal(error.request_id, response.headers.get("X-Request-Id"));
  return error;
}

const one = (product_id: number) => ({ params: { path: { product_id } } });

const sofas: NewProduct[] = [
  { title: "Linen sofa", description: "A comfy couch with washable covers.", price: "$899.00" },
  { title: "Velvet sofa", description: "A soft couch, deep seats.", price: "$1,299.00" },
  { title: "Leather sofa", description: "A couch of full-grain leather.", price: "$799.00" },
];
let ids: number[] = [];

before(async () => {
  const created = await orThrow(shop.POST("/api/v1/products/bulk", { body: { products: sofas } }));
  assert.equal(created.created_count, sofas.length);
  ids = created.created_ids;
});

test("a product is created, read, changed and deleted", async () => {
  const media = [{ url: "https://example.com/lamp.jpg", type: "image" as const }];
  const created = await shop.POST("/api/v1/products", {
    body: { title: "Brass lamp", price: "49,00 €", media },
  });
  assert.equal(created.response.status, 201);
  const lamp = await orThrow(Promise.resolve(created));
  assert.equal(created.response.headers.get("Location"), `/api/v1/products/${lamp.id}`);
  assert.deepEqual([lamp.title, lamp.description, lamp.price, lamp.hidden], ["Brass lamp", "", "49,00 €", false]);
  assert.deepEqual(lamp.media, media);

  const read = await shop.GET("/api/v1/products/{product_id}", one(lamp.id));
  assert.deepEqual(read.data, lamp);
  const tag = read.response.headers.get("ETag");
  assert.ok(tag);
  const again = await shop.GET("/api/v1/products/{product_id}", {
    params: { path: { product_id: lamp.id }, header: { "If-None-Match": tag } },
  });
  assert.equal(again.response.status, 304);

  const hidden = await orThrow(
    shop.PUT("/api/v1/products/{product_id}", { ...one(lamp.id), body: { hidden: true } }),
  );
  assert.equal(hidden.hidden, true);
  const cheaper = await orThrow(
    shop.PUT("/api/v1/products/{product_id}", { ...one(lamp.id), body: { price: "39,00 €" } }),
  );
  assert.deepEqual([cheaper.price, cheaper.title, cheaper.hidden], ["39,00 €", "Brass lamp", true]);
  // What was read can be edited and sent back.
  const sentBack = await orThrow(
    shop.PUT("/api/v1/products/{product_id}", { ...one(lamp.id), body: { ...cheaper, title: "Brass lamp, large" } }),
  );
  assert.equal(sentBack.title, "Brass lamp, large");

  const stale = { params: { path: { product_id: lamp.id }, header: { "If-Match": tag } } };
  const late = shop.PUT("/api/v1/products/{product_id}", { ...stale, body: { title: "Lost" } });
  assert.equal((await problem(late, 412)).code, "precondition_failed");
  await problem(shop.DELETE("/api/v1/products/{product_id}", stale), 412);

  const deleted = await shop.DELETE("/api/v1/products/{product_id}", one(lamp.id));
  assert.equal(deleted.response.status, 204);
  const gone = await problem(shop.GET("/api/v1/products/{product_id}", one(lamp.id)), 404);
  assert.equal(gone.code, "not_found");
});

test("a create with a key happens once", async () => {
  const header = { "Idempotency-Key": "contract-1" };
  const product = { title: "Oak shelf", price: "£80" };
  const first = await orThrow(shop.POST("/api/v1/products", { params: { header }, body: product }));
  const second = await orThrow(shop.POST("/api/v1/products", { params: { header }, body: product }));
  assert.equal(second.id, first.id);
  const other = shop.POST("/api/v1/products", { params: { header }, body: { ...product, price: "£81" } });
  assert.equal((await problem(other, 409)).code, "conflict");
  const bulk = { params: { header: { "Idempotency-Key": "contract-2" } }, body: { products: [product] } };
  const [created, repeated] = [
    await orThrow(shop.POST("/api/v1/products/bulk", bulk)),
    await orThrow(shop.POST("/api/v1/products/bulk", bulk)),
  ];
  assert.deepEqual(repeated, created);
  const product_ids = [first.id, ...created.created_ids];
  const deleted = await orThrow(shop.DELETE("/api/v1/products/bulk", { body: { product_ids } }));
  assert.equal(deleted.deleted_count, 2);
});

test("good elements of a bulk request succeed although others fail", async () => {
  const created = await orThrow(
    shop.POST("/api/v1/products/bulk", {
      body: { products: [{ title: "Rug", price: "$20" }, { title: "Rug", price: "cheap" }] },
    }),
  );
  assert.equal(created.created_count, 1);
  const [fault] = created.errors;
  assert.deepEqual([fault?.index, fault?.code, fault?.field], [1, "invalid_price", "price"]);

  const [rug] = created.created_ids;
  assert.ok(rug);
  const nowhere = Number.MAX_SAFE_INTEGER;
  const updated = await orThrow(
    shop.PUT("/api/v1/products/bulk", {
      body: { products: [{ id: nowhere, hidden: true }, { id: rug, price: "$25" }] },
    }),
  );
  assert.deepEqual(updated.updated_ids, [rug]);
  assert.deepEqual([updated.errors[0]?.id, updated.errors[0]?.code], [nowhere, "not_found"]);
  const deleted = await orThrow(shop.DELETE("/api/v1/products/bulk", { body: { product_ids: [rug, nowhere] } }));
  assert.equal(deleted.deleted_count, 1);
});

test("the catalog is read in pages and by ids", async () => {
  const pages: number[] = [];
  let total = Infinity;
  while (pages.length < total) {
    const query = { limit: 2, offset: pages.length };
    const page = await shop.GET("/api/v1/products", { params: { query } });
    total = Number(page.response.headers.get("X-Total-Count"));
    pages.push(...(await orThrow(Promise.resolve(page))).map((product) => product.id));
  }
  assert.deepEqual(pages, ids);
  const wanted = [...ids].reverse();
  const asked = await orThrow(shop.GET("/api/v1/products", { params: { query: { ids: wanted.join(",") } } }));
  assert.deepEqual(asked.map((product) => product.id), wanted);
});

test("products are kept by key, filtered, counted and sorted", async () => {
  const products: ProductUpsert[] = [
    { key: "RUG,1", title: "Wool rug", price: "$80", attributes: { color: ["red", "blue"], width: 120 } },
    { key: "RUG-2", title: "Jute rug", price: "$40", attributes: { color: "Red", width: 80, in_stock: true } },
    { key: "RUG-3", title: "No price" },
  ];
  const header = { "Idempotency-Key": "contract-3" };
  const upserted = await orThrow(shop.POST("/api/v1/products/upsert", { params: { header }, body: { products } }));
  const [wool, jute] = upserted.created_ids;
  assert.ok(wool && jute);
  assert.deepEqual(upserted.errors.map(({ key, field, code }) => [key, field, code]), [["RUG-3", "price", "required"]]);
  const again = await orThrow(shop.POST("/api/v1/products/upsert", { body: { products: [{ key: "RUG-2", price: "$45" }] } }));
  assert.deepEqual([again.created_ids, again.updated_ids], [[], [jute]]);

  // A comma inside a key is encoded.
  const listed = await orThrow(shop.GET("/api/v1/products", { params: { query: { keys: ["RUG-2", "RUG,1"] } } }));
  assert.deepEqual(listed.map(({ id, price }) => [id, price]), [[jute, "$45"], [wool, "$80"]]);
  const sorted = await orThrow(shop.GET("/api/v1/products", { params: { query: { sort: "-width", limit: 2 } } }));
  assert.deepEqual(sorted.map(({ id }) => id), [wool, jute]);

  const filter: Filter = {
    price: { max: "100", currency: "USD" }, color: ["RED"], width: { min: 80 }, not: { in_stock: false },
  };
  const found = await orThrow(
    shop.POST("/api/v1/search", { body: { filter, facets: ["color", "price", "width"], sort: "width" } }),
  );
  assert.deepEqual([found.total, found.products.map(({ id }) => id)], [2, [jute, wool]]);
  assert.equal(found.facets_are_exact, true);
  assert.deepEqual(found.facets?.["color"]?.values, [{ value: "Red", count: 2 }, { value: "blue", count: 1 }]);
  assert.deepEqual([found.facets?.["width"]?.min, found.facets?.["width"]?.max], [80, 120]);
  assert.deepEqual(found.facets?.price?.map(({ currency, min, max }) => [currency, min, max]), [["USD", "45", "80"]]);
  const crossed = { query: "rug", filter: { price: { min: "2", max: "1" } } };
  const refused = await problem(shop.POST("/api/v1/search", { body: crossed }), 422);
  assert.equal(refused.errors?.[0]?.field, "filter.price.min");

  const taken = shop.PUT("/api/v1/products/{product_id}", { ...one(jute), body: { key: "RUG,1" } });
  assert.equal((await problem(taken, 409)).code, "conflict");
  await orThrow(shop.DELETE("/api/v1/products/bulk", { body: { product_ids: [wool, jute] } }));
  const { changes, next, complete } = await orThrow(shop.GET("/api/v1/changes", { params: { query: { limit: 1000 } } }));
  const last = changes.slice(-2).map(({ id, key, change }) => [id, key, change]);
  assert.deepEqual(last, [[wool, "RUG,1", "deleted"], [jute, "RUG-2", "deleted"]]);
  assert.deepEqual([next, complete], [changes.at(-1)?.seq, true]);
});

test("search keeps the conditions of a query and says how it read them", async () => {
  const [linen, , leather] = ids;
  const query = "a comfy couch under nine hundred dollars, not leather";
  const found = await orThrow(shop.POST("/api/v1/search", { body: { query, explain: true } }));
  assert.deepEqual([found.query, found.total, found.products.map((product) => product.id)], [query, 1, [linen]]);
  const [constraint] = found.understood.constraints;
  assert.deepEqual([constraint?.operation, constraint?.value, constraint?.currency], ["below", "900", "USD"]);
  assert.equal(found.understood.exclusions.length, 1);
  const explanation = found.products[0]?.explanation;
  assert.ok(explanation && explanation.score > 0);

  assert.ok(explanation.rerank && explanation.rerank.contributions.lexical >= 0);

  const understand = { price: false, exclusions: false, sort: false, corrections: false, attributes: false };
  const asWords = await orThrow(shop.POST("/api/v1/search", { body: { query, understand } }));
  assert.deepEqual(asWords.understood.constraints, []);
  assert.ok(asWords.products.some((product) => product.id === leather));

  const cheapest = { query: "cheapest couch", limit: 1 };
  const first = await orThrow(shop.POST("/api/v1/search", { body: cheapest }));
  const next = await orThrow(shop.POST("/api/v1/search", { body: { ...cheapest, offset: 1 } }));
  assert.equal(first.understood.sort?.order, "price_ascending");
  assert.equal(first.total, 3);
  assert.deepEqual([first.products[0]?.id, next.products[0]?.id], [leather, linen]);
});

test("what is inferred is returned, filtered by and counted", async () => {
  const [linen] = ids;
  const filter: Filter = { category: ["Furniture > Sofas"], material: ["linen"] };
  const body = { query: "only linen sofas", filter, facets: ["category", "material"] };
  const found = await orThrow(shop.POST("/api/v1/search", { body }));
  const [product] = found.products;
  assert.deepEqual([found.total, product?.id, product?.category?.path.slice(0, 2)], [1, linen, ["Furniture", "Sofas"]]);
  assert.deepEqual(product?.inferred_attributes, { material: ["linen"] });
  const asked = found.understood.attributes.map(({ name, values, text, required }) => [name, values, text, required]);
  assert.deepEqual(asked, [["material", ["linen"], "linen", true]]);
  assert.equal(found.facets?.category?.missing, 0);
  assert.deepEqual(found.facets?.["material"]?.values, [{ value: "linen", count: 1 }]);
  const refused = await problem(shop.POST("/api/v1/search", { body: { filter: { category: ["zz"] } } }), 422);
  assert.deepEqual([refused.errors?.[0]?.field, refused.errors?.[0]?.code], ["filter.category[0]", "unknown_category"]);
});

test("what is like a product", async () => {
  const [linen] = ids;
  assert.ok(linen);
  const similar = await orThrow(
    shop.GET("/api/v1/products/{product_id}/similar", {
      params: { path: { product_id: linen }, query: { limit: 1, include_hidden: true } },
    }),
  );
  assert.equal(similar.products.length, 1);
  assert.notEqual(similar.products[0]?.id, linen);
});

test("hidden products are for those who may see them", async () => {
  const secret = await create({ title: "Secret sofa", price: "$1", hidden: true });
  const query = { query: "secret sofa", include_hidden: true };
  const [viewer, shopper] = [await withRole("VIEWER"), await withRole("SHOPPER")];
  const found = await orThrow(viewer.POST("/api/v1/search", { body: query }));
  assert.equal(found.products[0]?.id, secret);
  assert.equal((await problem(shopper.POST("/api/v1/search", { body: query }), 403)).code, "insufficient_role");
  await problem(shopper.GET("/api/v1/products/{product_id}", one(secret)), 404);
  await problem(viewer.DELETE("/api/v1/products/{product_id}", one(secret)), 403);
  await orThrow(shop.DELETE("/api/v1/products/{product_id}", one(secret)));
});

test("tokens are issued, listed and revoked", async () => {
  const issued = await orThrow(
    shop.POST("/api/v1/tokens", { body: { role: "EDITOR", name: "import job", expires_in_seconds: 3600 } }),
  );
  assert.ok(issued.expires_at && Date.parse(issued.expires_at) > Date.parse(issued.created_at));
  const bearer = shopOf(issued.token);
  await orThrow(bearer.GET("/api/v1/products"));
  const path = { token_id: issued.id };
  await orThrow(shop.DELETE("/api/v1/tokens/{token_id}", { params: { path } }));
  assert.equal((await problem(bearer.GET("/api/v1/products"), 401)).code, "invalid_token");
  const listed = (await orThrow(shop.GET("/api/v1/tokens"))).find((token) => token.id === issued.id);
  assert.equal(listed?.name, "import job");
  assert.ok(listed.revoked_at);
});

test("every fault of a request is told, as a value or thrown", async () => {
  const body = { title: " ", price: "19.99" };
  const refused = await problem(shop.POST("/api/v1/products", { body }), 422);
  const faults = (refused.errors ?? []).map(({ field, code }) => [field, code]);
  assert.deepEqual(faults, [["title", "blank"], ["price", "invalid_price"]]);
  const thrown = orThrow(
    shop.POST("/api/v1/products", { body, headers: { "X-Request-Id": "contract-422" } }),
  );
  await assert.rejects(thrown, (error) => {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.problem.request_id, "contract-422");
    assert.match(error.message, /^validation_failed: .*; title .*; price /s);
    return true;
  });
});

test("answers show what was written", async () => {
  const writer = shopOf(setting("TARGET_TOKEN"), true);
  const written = await writer.POST("/api/v1/products", { body: { title: "Stool", price: "$30" } });
  assert.ok(Number(written.response.headers.get("X-Catalog-Seq")) > 0);
  const stool = await orThrow(Promise.resolve(written));
  assert.deepEqual(await orThrow(writer.GET("/api/v1/products/{product_id}", one(stool.id))), stool);
  await orThrow(writer.DELETE("/api/v1/products/{product_id}", one(stool.id)));
});

test("while the service cannot answer, what is safe to repeat is repeated", async () => {
  const { response } = await shop.GET("/api/v1/products");
  const seq = Number(response.headers.get("X-Catalog-Seq"));
  const missing = (change: number) => ({ "X-Min-Catalog-Seq": String(seq + change) });
  // The change that is asked for is made only when the service has said that it is not there.
  const made: number[] = [];
  const patient = connect({
    baseUrl,
    token: setting("TARGET_TOKEN"),
    fetch: async (request) => {
      const answer = await fetch(request);
      if (answer.status === 503) made.push(await create({ title: "Late stool", price: "$30", hidden: true }));
      return answer;
    },
  });
  const [read, issued] = await Promise.all([
    patient.GET("/api/v1/products", { headers: missing(1) }),
    shop.POST("/api/v1/tokens", { headers: missing(1_000_000), body: { role: "SHOPPER" } }),
  ]);
  assert.equal(read.response.status, 200);
  assert.equal(made.length, 1);
  // It may have happened, and would happen twice.
  assert.equal((await problem(Promise.resolve(issued), 503)).code, "unavailable");
  await orThrow(shop.DELETE("/api/v1/products/bulk", { body: { product_ids: made } }));
});

test("a request that comes too soon is sent again", async () => {
  const limited = connect({ baseUrl: setting("LIMITED_ADDRESS"), token: setting("LIMITED_TOKEN"), attempts: 20 });
  async function turnedAway(): Promise<number> {
    const figures = await orThrow(limited.GET("/metrics", { parseAs: "text" }));
    const lines = figures.matchAll(/^shopkeeper_http_requests_total\{.*status="429".*\} (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  }
  const before = await turnedAway();
  // A slow machine may send even these so far apart that none comes too soon.
  for (let round = 0; round < 20 && (await turnedAway()) === before; round += 1) {
    const creates = ["Oak chair", "Ash chair", "Elm chair"].map((title) =>
      limited.POST("/api/v1/products", { body: { title, price: "$9" } }),
    );
    for (const { response } of await Promise.all(creates)) assert.equal(response.status, 201);
  }
  assert.ok((await turnedAway()) > before);
});

test("figures, health, the document and the pages", async () => {
  const figures = await orThrow(shop.GET("/api/v1/figures"));
  assert.deepEqual([figures.role, figures.products.visible], ["ADMIN", 3]);
  assert.equal((await orThrow(shop.GET("/health/live"))).status, "ok");
  assert.equal((await orThrow(shop.GET("/health/ready"))).status, "ok");
  const metrics = await orThrow(shop.GET("/metrics", { parseAs: "text" }));
  assert.match(metrics, /^shopkeeper_writes_waiting /m);
  let shopPage = "";
  for (const page of ["/", "/preview", "/admin", "/docs"] as const) {
    const text = await orThrow(shop.GET(page, { parseAs: "text" }));
    assert.match(text, /^<!doctype html>/i);
    if (page === "/preview") shopPage = text;
  }
  const [, version, file] = /"\/assets\/([^/"]+)\/([^/"]+\.js)"/.exec(shopPage) ?? [];
  assert.ok(version && file);
  const asset = shop.GET("/assets/{version}/{file}", { params: { path: { version, file } }, parseAs: "text" });
  assert.match(await orThrow(asset), /import/);
});

after(async () => {
  const document = await orThrow(shop.GET("/openapi.json"));
  const paths = document["paths"] as Record<string, Record<string, { operationId: string }>>;
  const missed = Object.entries(paths).flatMap(([path, methods]) => {
    // The address with words in the place of its parameters, "bulk" apart: that is one of its own.
    const pattern = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "(?!bulk$)[^/]+")}$`);
    const isCalled = (method: string) =>
      called.some((call) => call.method === method.toUpperCase() && pattern.test(call.path));
    return Object.entries(methods)
      .filter(([method]) => !isCalled(method))
      .map(([, { operationId }]) => operationId);
  });
  assert.deepEqual(missed, [], "operations that no test called");
});
