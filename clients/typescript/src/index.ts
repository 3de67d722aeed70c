/**
 * A typed client of Shopkeeper. `schema.ts` is made from the service's OpenAPI document; this file
 * adds the token, patience where the service asks for it, and reading one's own writes.
 */

import createClient, { type Client } from "openapi-fetch";

import type { paths, Problem } from "./schema.js";

export type * from "./schema.js";

/** A shop: `GET`, `POST`, `PUT` and `DELETE`, each with the addresses that take it. */
export type Shop = Client<paths>;

export interface Connection {
  /** Where the service is, such as `https://shop.example.com`. */
  baseUrl: string;
  /** A token of the service, or a signed one of your identity provider. */
  token: string;
  /**
   * How often a request is sent at most while the service is too busy for it (429, 503): 4 times
   * unless given, each time after as long as `Retry-After` says. 1 never repeats a request.
   */
  attempts?: number;
  /**
   * Whether answers show at least what earlier answers showed, whichever node of the service gives
   * them. Needed only where several nodes share a database.
   */
  readYourWrites?: boolean;
  /** What sends a request; the platform's own `fetch` unless given. */
  fetch?: (request: Request) => Promise<Response>;
}

/** Longer than this, the answer is handed on instead of waited for. */
const MAX_WAIT_SECONDS = 60;

/** The shop that a token belongs to. */
export function connect(connection: Connection): Shop {
  const { baseUrl, token, attempts = 4, readYourWrites = false } = connection;
  const send = connection.fetch ?? ((request: Request) => fetch(request));
  let seen = 0;

  async function sendPatiently(request: Request): Promise<Response> {
    if (readYourWrites && seen > 0) request.headers.set("X-Min-Catalog-Seq", String(seen));
    for (let attempt = 1; ; attempt += 1) {
      const response = await send(attempt < attempts ? request.clone() : request);
      seen = Math.max(seen, Number(response.headers.get("X-Catalog-Seq") ?? 0));
      const seconds = Number(response.headers.get("Retry-After") ?? Infinity);
      if (attempt >= attempts || !mayBeRepeated(request, response) || !(seconds <= MAX_WAIT_SECONDS)) {
        return response;
      }
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  return createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${token}` },
    fetch: sendPatiently,
  });
}

/** Nothing was done at 429. At 503 a write may have been, so a create needs a key to be repeated. */
function mayBeRepeated(request: Request, response: Response): boolean {
  if (response.status !== 503) return response.status === 429;
  const isSearch = new URL(request.url).pathname.endsWith("/search");
  return request.method !== "POST" || isSearch || request.headers.has("Idempotency-Key");
}

/** The service refused a request, and `problem` says why. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

  constructor(
    readonly problem: Problem,
    readonly response: Response,
  ) {
    const faults = (problem.errors ?? []).map(({ field, message }) => `${field ?? "request"} ${message}`);
    super([`${problem.code}: ${problem.detail}`, ...faults].join("; "));
  }
}

/** What was answered, for those who want problems thrown: `await orThrow(shop.GET(…))`. */
export async function orThrow<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  if (isProblem(error)) throw new ProblemError(error, response);
  throw new Error(`${response.url} answered ${response.status} without saying why`);
}

/** Whether an error is the service's own: something between it and here may answer in its place. */
export function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "code" in error && "request_id" in error;
}
