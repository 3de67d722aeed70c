// How does a file get into the shop? Record by record, a hundred to a request, each request safe to
// repeat: a lost answer, an expired token or a reload neither loses nor doubles a product.

import { Problem, Unreachable } from "./api.js";
import { readerOf, toProduct, withCurrency } from "./records.js";

/// Products in one request, as the service allows.
const BATCH = 100;
/// The service takes bodies of 4 MiB unless told otherwise; half of that leaves room.
const BATCH_CHARACTERS = 1 << 20;
const PATIENCE_SECONDS = 2;

/// An import that is underway. `run` is what a reload must not lose:
/// `{ id, file, format, mapping, currency, sent, line, bytes, created, failed }`.
export class Importer {
  #batch = [];
  #characters = 0;
  #number = 0;

  /// `onProgress(run)` after each batch; `onFault({ line, field, code, message })` for each record refused;
  /// `onWait(reason)` while the service is busy or away.
  constructor({ api, file, run, signal, onProgress, onFault, onWait }) {
    Object.assign(this, { api, file, run, signal, onProgress, onFault, onWait });
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
    // Sent before a reload: the file is only read up to here again.
    if (this.#number <= this.run.sent) return;
    const good = batch.filter(({ fault }) => fault === undefined);
    const faults = batch.filter(({ fault }) => fault !== undefined).map(({ line, fault }) => ({ line, code: "unreadable", message: fault }));
    if (good.length > 0) {
      const products = good.map(({ value }) => this.#product(value));
      const answer = await this.#persist(products);
      this.run.created += answer.created_count;
      for (const { index, field, code, message } of answer.errors) faults.push({ line: good[index].line, field, code, message });
    }
    faults.sort((a, b) => a.line - b.line);
    this.run.failed += new Set(faults.map(({ line }) => line)).size;
    this.run.sent = this.#number;
    this.run.line = batch.at(-1).line;
    this.run.bytes = bytes;
    for (const fault of faults) this.onFault(fault);
    this.onProgress(this.run);
  }

  #product(value) {
    const isRow = this.run.format !== "lines" && this.run.format !== "array";
    return withCurrency(isRow ? toProduct(value, this.run.mapping) : value, this.run.currency);
  }

  /// Sends until the service has answered; its key makes that safe.
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
        await pause((error.retryAfterSeconds ?? PATIENCE_SECONDS) * 1000, this.signal);
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
