// The pages' client of the API. When a token is rejected, it asks for another one and repeats the
// request.

import { text } from "./texts.js";

const PREFIX = "/api/v1";

/// An error response of the API.
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body?.detail ?? `The service answered ${status}.`);
    this.status = status;
    this.code = body?.code ?? "unknown";
    this.errors = body?.errors ?? [];
    this.requestId = body?.request_id;
    this.retryAfterSeconds = retryAfter;
  }

  /// Validation messages by field.
  byField() {
    return new Map(this.errors.filter((error) => error.field).map((error) => [error.field, error.message]));
  }
}

/// The service could not be reached.
export class Unreachable extends Error {
  constructor(cause) {
    super(text("error.unreachable"), { cause });
  }
}

/// The message of an error for the user.
export function told(error) {
  if (error instanceof Unreachable) return error.message;
  return text(error instanceof Problem ? "error.problem" : "error.page", { detail: sentence(error.message) });
}

function sentence(words) {
  const begun = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

export const wasAborted = (error) => error?.name === "AbortError";

export class Api {
  /// `session` has `token()` and `renew(problem, usedToken)`, both of which may wait.
  constructor(session) {
    this.session = session;
  }

  /// Makes a request and returns `{ status, headers, body }`.
  async call(method, path, { body, headers = {}, signal } = {}) {
    let token = await this.session.token();
    for (;;) {
      signal?.throwIfAborted();
      const response = await send(method, PREFIX + path, token, body, headers, signal);
      const text = await response.text();
      const answer = text === "" ? undefined : JSON.parse(text);
      if (response.ok) return { status: response.status, headers: response.headers, body: answer };
      const wait = Number(response.headers.get("retry-after")) || undefined;
      const problem = new Problem(response.status, answer, wait);
      if (problem.status !== 401) throw problem;
      token = await this.session.renew(problem, token);
    }
  }

  async get(path, options) {
    return (await this.call("GET", path, options)).body;
  }

  async post(path, body, options) {
    return (await this.call("POST", path, { ...options, body })).body;
  }
}

async function send(method, address, token, body, headers, signal) {
  const all = { Authorization: `Bearer ${token}`, ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  try {
    return await fetch(address, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (wasAborted(error)) throw error;
    throw new Unreachable(error);
  }
}
