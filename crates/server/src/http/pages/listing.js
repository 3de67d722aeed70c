// Pages of the admin page's table. The API lists by id and searches by text; this combines the two so
// that every filter has pages, newest or best first.

export const ROWS = 50;
/// The largest offset of a search.
const FURTHEST = 1000;
/// A query that matches every product, newest first.
const EVERYTHING = "newest";
const LIST_LIMIT = 100;

/// The page of `{ text, shown, page }`, where `shown` is `all`, `visible` or `hidden`:
/// `{ products, total, hasNext }`. `total` is `undefined` where it is not known.
export async function pageOf(api, { text, shown, page }, { signal, onLooked } = {}) {
  const query = text.trim();
  if (shown === "hidden") return hiddenPage(api, query, page, { signal, onLooked });
  if (query === "" && shown === "all") return catalogPage(api, page, signal);
  const offset = page * ROWS;
  if (offset > FURTHEST) return { products: [], total: undefined, hasNext: false };
  const body = { query: query || EVERYTHING, limit: ROWS, offset, include_hidden: shown === "all" };
  const { products, total } = await api.post("/search", body, { signal });
  return { products, total, hasNext: offset + ROWS < total && offset + ROWS <= FURTHEST };
}

/// The catalog in descending order; the API lists it by ascending id.
async function catalogPage(api, page, signal) {
  const { headers } = await api.call("GET", "/products?limit=1", { signal });
  const total = Number(headers.get("x-total-count"));
  const { offset, limit } = backwards(total, page, ROWS);
  if (limit === 0) return { products: [], total, hasNext: false };
  const products = await api.get(`/products?limit=${limit}&offset=${offset}`, { signal });
  return { products: products.reverse(), total, hasNext: offset > 0 };
}

/// Offset and limit of a page that is counted from the end of a list of `total`.
export function backwards(total, page, size) {
  const end = Math.max(total - page * size, 0);
  const offset = Math.max(end - size, 0);
  return { offset, limit: end - offset };
}

/// Scans all products for hidden ones until the page is full.
async function hiddenPage(api, query, page, { signal, onLooked }) {
  const wanted = (page + 1) * ROWS;
  const found = [];
  const known = (await api.get("/figures", { signal })).products.hidden;
  let looked = 0;
  for (let at = 0; found.length < wanted + 1 && found.length < known; at += 1) {
    const { products, hasNext } = query === ""
      ? await catalogStep(api, at, signal)
      : await searchStep(api, query, at, signal);
    found.push(...products.filter((product) => product.hidden));
    looked += products.length;
    onLooked?.(looked);
    if (!hasNext) break;
  }
  return {
    products: found.slice(page * ROWS, wanted),
    total: query === "" ? known : undefined,
    hasNext: found.length > wanted,
  };
}

async function catalogStep(api, at, signal) {
  const { headers } = await api.call("GET", "/products?limit=1", { signal });
  const { offset, limit } = backwards(Number(headers.get("x-total-count")), at, LIST_LIMIT);
  if (limit === 0) return { products: [], hasNext: false };
  const products = await api.get(`/products?limit=${limit}&offset=${offset}`, { signal });
  return { products: products.reverse(), hasNext: offset > 0 };
}

async function searchStep(api, query, at, signal) {
  const offset = at * ROWS;
  const { products, total } = await api.post("/search", { query, limit: ROWS, offset, include_hidden: true }, { signal });
  return { products, hasNext: offset + ROWS < total && offset + ROWS <= FURTHEST };
}
