// Pages of the admin page's table. The API lists by id and searches by text and filter; this combines
// the two so that every condition has pages, newest or best first.

import { isEmpty } from "./filters.js";

export const ROWS = 50;
/// The largest offset of a search.
const FURTHEST = 1000;
const LIST_LIMIT = 100;

/// The page of `{ text, key, shown, filter, sort, page }`, where `shown` is `all`, `visible` or
/// `hidden`: `{ products, total, hasNext }`. `total` is `undefined` where it is not known.
export async function pageOf(api, state, { signal, onLooked } = {}) {
  const { shown, page } = state;
  if (state.key) return keyPage(api, state, signal);
  if (shown === "hidden") return hiddenPage(api, state, { signal, onLooked });
  if (shown === "all" && isPlain(state)) return catalogPage(api, state, signal);
  const offset = page * ROWS;
  if (offset > FURTHEST) return { products: [], total: undefined, hasNext: false };
  const { products, total } = await api.post("/search", { ...searchOf(state), limit: ROWS, offset }, { signal });
  return { products, total, hasNext: offset + ROWS < total && offset + ROWS <= FURTHEST };
}

const isPlain = ({ text, filter }) => text.trim() === "" && isEmpty(filter);

/// The search for products in this state, without its page.
export function searchOf({ text, filter, sort, shown }) {
  const body = { filter, include_hidden: shown !== "visible" };
  if (text.trim() !== "") body.query = text.trim();
  if (sort) body.sort = sort;
  return body;
}

/// The product with this key. A list of keys is separated by commas; a key that has one is searched.
async function keyPage(api, { key, shown }, signal) {
  const found = key.includes(",")
    ? (await api.post("/search", { query: key, include_hidden: true, limit: ROWS }, { signal })).products
    : await api.get(`/products?keys=${encodeURIComponent(key)}`, { signal });
  const fits = (product) => product.key === key && (shown === "all" || product.hidden === (shown === "hidden"));
  const products = found.filter(fits);
  return { products, total: products.length, hasNext: false };
}

/// The catalog, newest first unless sorted otherwise; the API lists it by ascending id.
async function catalogPage(api, { page, sort }, signal) {
  if (sort) {
    const { headers, body } = await api.call("GET", `/products?sort=${sort}&limit=${ROWS}&offset=${page * ROWS}`, { signal });
    const total = Number(headers.get("x-total-count"));
    return { products: body, total, hasNext: (page + 1) * ROWS < total };
  }
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
async function hiddenPage(api, state, { signal, onLooked }) {
  const { page } = state;
  const isWhole = isPlain(state);
  const wanted = (page + 1) * ROWS;
  const found = [];
  const known = (await api.get("/figures", { signal })).products.hidden;
  let looked = 0;
  for (let at = 0; found.length < wanted + 1 && found.length < known; at += 1) {
    const { products, hasNext } = isWhole && !state.sort
      ? await catalogStep(api, at, signal)
      : await searchStep(api, state, at, signal);
    found.push(...products.filter((product) => product.hidden));
    looked += products.length;
    onLooked?.(looked);
    if (!hasNext) break;
  }
  return {
    products: found.slice(page * ROWS, wanted),
    total: isWhole ? known : undefined,
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

async function searchStep(api, state, at, signal) {
  const offset = at * ROWS;
  const { products, total } = await api.post("/search", { ...searchOf(state), limit: ROWS, offset }, { signal });
  return { products, hasNext: offset + ROWS < total && offset + ROWS <= FURTHEST };
}
