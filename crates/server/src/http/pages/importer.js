// Sends the records of a file in batches with idempotency keys: a lost response, an expired token or a
// reload neither loses nor duplicates a product.

import { Problem, Unreachable } from "./api.js";
import { readerOf, toProduct, withCurrency } from "./records.js";

/// The most products in one request.
const BATCH = 100;
/// The default limit of bodies is 4 MiB; the half of it leaves room for multi-byte characters.
const BATCH_CHARACTERS = 1 << 20;
const RETRY_SECONDS = 2;

/// An import in progress. `run` is the state that survives a reload:
/// `{ id, file, format, mapping, currency, sent, line, bytes, created, failed }`.
export class Importer {
  #batch = [];
  #characters = 0;
  #number = 0;

  /// `onProgress(run)` after each batch; `onError({ line, field, code, message })` for each invalid record;
  /// `onWait(reason)` while the service is overloaded or unreachable.
  constructor({ api, file, run, signal, onProgress, onError, onWait }) {
    Object.assign(this, { api, file, run, signal, onProgress, onError, onWait });
  }

  async go() {
    const reader = readerOf(this.run.format);
    let bytes = 0;
    const count = new TransformStream({
      transform: (chunk, out) => {
        bytes += chunk.byteLength;
        out.enqueue(chunk);
      },
    });
    const texts = this.file.stream().pipeThrough(count).pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await texts.read();
        this.signal.throwIfAborted();
        const records = done ? reader.end() : reader.push(value);
        for (const record of records) await this.#take(record, bytes);
        if (done) break;
      }
      await this.#send(bytes);
      this.run.bytes = this.file.size;
      this.onProgress(this.run);
    } finally {
      texts.cancel().catch(() => {});
    }
  }

  async #take(record, bytes) {
    this.#batch.push(record);
    this.#characters += JSON.stringify(record.value ?? null).length;
    if (this.#batch.length >= BATCH || this.#characters >= BATCH_CHARACTERS) await this.#send(bytes);
  }

  async #send(bytes) {
    const batch = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    if (batch.length === 0) return;
    this.#number += 1;
    // Sent before a reload: the file is only read again up to here.
    if (this.#number <= this.run.sent) return;
    const good = batch.filter(({ error }) => error === undefined);
    const errors = batch.filter(({ error }) => error !== undefined).map(({ line, error }) => ({ line, code: "unreadable", message: error }));
    if (good.length > 0) {
      const products = good.map(({ value }) => this.#product(value));
      const answer = await this.#persist(products);
      this.run.created += answer.created_count;
      for (const { index, field, code, message } of answer.errors) errors.push({ line: good[index].line, field, code, message });
    }
    errors.sort((a, b) => a.line - b.line);
    this.run.failed += new Set(errors.map(({ line }) => line)).size;
    this.run.sent = this.#number;
    this.run.line = batch.at(-1).line;
    this.run.bytes = bytes;
    for (const error of errors) this.onError(error);
    this.onProgress(this.run);
  }

  #product(value) {
    const isRow = this.run.format !== "lines" && this.run.format !== "array";
    return withCurrency(isRow ? toProduct(value, this.run.mapping) : value, this.run.currency);
  }

  /// Repeats a batch until it is answered; its idempotency key makes that safe. The prefix of the key
  /// must not change: an import may be resumed after an upgrade.
  async #persist(products) {
    const headers = { "Idempotency-Key": `desk-import/${this.run.id}/${this.#number}` };
    for (;;) {
      try {
        const answer = await this.api.post("/products/bulk", { products }, { headers, signal: this.signal });
        this.onWait(undefined);
        return answer;
      } catch (error) {
        const busy = error instanceof Problem && [429, 503].includes(error.status);
        if (!busy && !(error instanceof Unreachable)) throw error;
        this.onWait(error.message);
        await pause((error.retryAfterSeconds ?? RETRY_SECONDS) * 1000, this.signal);
      }
    }
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
