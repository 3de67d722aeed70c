// The import of a file: choose, preview, map columns, send; with progress and a list of errors.

import { told, wasAborted } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { Importer } from "./importer.js";
import { formatOf, guessMapping, readerOf, toProduct, withCurrency } from "./records.js";
import { recall, remember } from "./storage.js";
import { bytes, counted, duration, number } from "./words.js";

/// The storage key of an unfinished import.
const RUN = "import";
const BEGINNING_BYTES = 256 * 1024;
const PREVIEW_ROWS = 5;
const ERRORS_SHOWN = 50;
const NAMES = { lines: "JSON Lines", array: "JSON array", ",": "CSV, commas", ";": "CSV, semicolons", "\t": "TSV, tabs" };
const FIELDS = [["title", "Title"], ["description", "Description"], ["price", "Price"], ["media", "Picture"], ["hidden", "Hidden"]];
const CURRENCIES = ["USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "PLN", "SEK", "INR", "BRL"];

export class ImportView {
  constructor({ api }) {
    this.api = api;
    this.body = h("div", { class: "stack-wide" });
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Import")),
      this.body);
    this.#showChoice();
    window.addEventListener("beforeunload", (event) => {
      if (this.abort) event.preventDefault();
    });
  }

  enter() {}

  #showChoice(problem) {
    const left = recall(RUN);
    const input = h("input", { class: "visually-hidden", id: "file", type: "file", accept: ".json,.jsonl,.ndjson,.csv,.tsv,.txt", on: { change: () => this.#choose(input.files[0]) } });
    const drop = h("label", {
      class: "drop", for: "file",
      on: {
        dragover: (event) => {
          event.preventDefault();
          drop.classList.add("is-over");
        },
        dragleave: () => drop.classList.remove("is-over"),
        drop: (event) => {
          event.preventDefault();
          drop.classList.remove("is-over");
          this.#choose(event.dataTransfer.files[0]);
        },
      },
    }, icon("upload"), h("span", { class: "drop-title" }, "Choose a file, or drop it here"), h("span", { class: "soft" }, "JSON Lines, a JSON array, CSV or TSV with a row of names"));
    fill(this.body,
      problem ? h("p", { class: "notice notice-bad", role: "alert" }, problem) : undefined,
      left ? this.#leftover(left) : undefined,
      input, drop);
  }

  #leftover(run) {
    const forget = () => {
      remember(RUN, undefined);
      this.#showChoice();
    };
    return h("div", { class: "notice notice-warn" },
      h("p", {}, `The import of ${run.file.name} stopped after line ${number(run.line)}, with ${counted(run.created, "product")} created. Choose the same file to go on from there; nothing is created twice.`),
      h("div", { class: "actions" }, h("button", { class: "button button-small", type: "button", on: { click: forget } }, "Forget it")));
  }

  async #choose(file) {
    if (!file) return;
    const left = recall(RUN);
    const same = left && ["name", "size", "lastModified"].every((what) => left.file[what] === file[what]);
    if (same) return this.#run(file, left);
    const beginning = await file.slice(0, BEGINNING_BYTES).text();
    if (beginning.trim() === "") return this.#showChoice(`${file.name} is empty.`);
    const format = formatOf(file.name, beginning);
    const reader = readerOf(format);
    // Without the last line, which may be incomplete.
    const whole = file.size > BEGINNING_BYTES ? beginning.slice(0, beginning.lastIndexOf("\n") + 1) : beginning;
    const records = [...reader.push(whole), ...(file.size > BEGINNING_BYTES ? [] : reader.end())];
    this.#showPreview({ file, format, records, columns: reader.columns });
  }

  #showPreview({ file, format, records, columns }) {
    const run = {
      id: crypto.getRandomValues(new Uint32Array(4)).join("-"),
      file: { name: file.name, size: file.size, lastModified: file.lastModified },
      format, mapping: guessMapping(columns ?? []), currency: "", sent: 0, line: 0, bytes: 0, created: 0, failed: 0,
    };
    const preview = h("div", { class: "scroll" });
    const show = () => fill(preview, previewTable(records, run, columns));
    const choose = (label, id, options, value, change) => h("div", { class: "field" },
      h("label", { class: "field-label", for: id }, label),
      h("select", { class: "field-input", id, on: { change: (event) => { change(event.target.value); show(); } }, value }, options.map(([optionValue, text]) => h("option", { value: optionValue }, text))));
    const none = ["", "not in the file"];
    const columnChoices = columns
      ? FIELDS.map(([field, label]) => choose(label, `map-${field}`, [none, ...columns.map((name) => [name, name])], run.mapping[field] ?? "", (value) => { run.mapping[field] = value || undefined; }))
      : [];
    const currency = choose("Prices without a currency are in", "map-currency", [["", "none: refuse them"], ...CURRENCIES.map((code) => [code, code])], "", (value) => { run.currency = value; });
    show();
    fill(this.body,
      h("div", { class: "panel stack" },
        h("p", {}, h("strong", {}, file.name), h("span", { class: "soft" }, ` · ${bytes(file.size)} · ${NAMES[format]}`)),
        h("div", { class: "fields-row" }, columnChoices, currency),
        h("h2", { class: "section-title" }, "How the first products will look"),
        preview,
        h("div", { class: "actions" },
          h("button", { class: "button", type: "button", on: { click: () => this.#showChoice() } }, "Another file"),
          h("button", { class: "button button-main", type: "button", on: { click: () => this.#run(file, run) } }, icon("upload"), "Import"))));
  }

  async #run(file, run) {
    const progress = this.#showProgress(file, run);
    const abort = new AbortController();
    this.abort = abort;
    remember(RUN, run);
    const importer = new Importer({
      api: this.api, file, run, signal: abort.signal,
      onProgress: (now) => {
        remember(RUN, now);
        progress.update();
      },
      onError: (error) => progress.error(error),
      onWait: (reason) => progress.wait(reason),
    });
    try {
      await importer.go();
      remember(RUN, undefined);
      progress.end("done");
    } catch (error) {
      if (wasAborted(error)) progress.end("cancelled");
      else progress.end("failed", told(error));
    } finally {
      this.abort = undefined;
    }
  }

  #showProgress(file, run) {
    const began = performance.now();
    const [createdBefore, errors] = [run.created, []];
    const bar = h("progress", { class: "progress", max: "1", "aria-label": "Import" });
    const state = h("p", { class: "progress-state", role: "status" });
    const counts = h("p", { class: "soft tabular" });
    const list = h("tbody", {});
    const table = h("table", { class: "plain", hidden: true },
      h("thead", {}, h("tr", {}, ["Line", "Field", "Error"].map((text) => h("th", { scope: "col" }, text)))), list);
    const cancel = h("button", { class: "button", type: "button", on: { click: () => this.abort?.abort() } }, "Cancel");
    const actions = h("div", { class: "actions" }, cancel);
    fill(this.body, h("div", { class: "panel stack" }, h("p", {}, h("strong", {}, file.name)), bar, state, counts, h("div", { class: "scroll" }, table), actions));
    const update = () => {
      const share = file.size === 0 ? 1 : run.bytes / file.size;
      bar.value = share;
      const seconds = (performance.now() - began) / 1000;
      const rate = (run.created - createdBefore) / Math.max(seconds, 0.001);
      const left = share > 0 && share < 1 ? ` · about ${duration((seconds / share) * (1 - share) * 1000)} left` : "";
      fill(counts, `${number(run.created)} created · ${number(run.failed)} refused · ${number(Math.round(rate))} a second${left}`);
    };
    fill(state, "Importing…");
    update();
    return {
      update,
      wait: (reason) => fill(state, reason === undefined ? "Importing…" : `Waiting: ${reason}`),
      error: (error) => {
        errors.push(error);
        table.hidden = false;
        if (errors.length <= ERRORS_SHOWN) list.append(h("tr", {}, h("td", {}, number(error.line)), h("td", {}, error.field ?? ""), h("td", {}, error.message)));
      },
      end: (how, why) => {
        update();
        const created = counted(run.created, "product");
        const said = {
          done: `Done: ${created} created${run.failed > 0 ? `, ${number(run.failed)} refused` : ""}.`,
          cancelled: `Cancelled after line ${number(run.line)}: ${created} created. Choose the same file again to go on.`,
          failed: `Stopped after line ${number(run.line)}: ${why} Choose the same file again to go on.`,
        }[how];
        fill(state, said);
        const again = h("button", { class: "button", type: "button", on: { click: () => this.#showChoice() } }, how === "done" ? "Import another file" : "Choose a file");
        const download = errors.length === 0 ? undefined : h("a", { class: "button", href: errorsUrl(errors), download: `${file.name}.errors.csv` }, icon("download"), `Errors as a file (${number(errors.length)})`);
        const look = h("a", { class: "button button-main", href: "#/catalog" }, "See the catalog");
        fill(actions, download, again, how === "done" ? look : undefined);
      },
    };
  }
}

function previewTable(records, run, columns) {
  const shown = records.slice(0, PREVIEW_ROWS).map((record) => {
    if (record.error) return h("tr", {}, h("td", { colspan: "4", class: "field-error" }, `Line ${number(record.line)} ${record.error}`));
    const product = withCurrency(columns ? toProduct(record.value, run.mapping) : record.value, run.currency);
    return h("tr", {}, ["title", "price", "description"].map((field) => h("td", { class: `preview-${field}` }, product[field] === undefined ? "–" : String(product[field]))),
      h("td", {}, product.hidden === true ? "hidden" : "visible"));
  });
  return h("table", { class: "plain" },
    h("thead", {}, h("tr", {}, ["Title", "Price", "Description", "State"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, shown));
}

function errorsUrl(errors) {
  const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const lines = errors.map(({ line, field, code, message }) => [line, field, code, message].map(quoted).join(","));
  return URL.createObjectURL(new Blob([["line,field,code,message", ...lines].join("\r\n")], { type: "text/csv" }));
}
