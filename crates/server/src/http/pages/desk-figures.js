// How is the shop doing right now? Its figures, read every two seconds while somebody looks.

import { told, wasAborted } from "./api.js";
import { between, lineChart, quantile } from "./charts.js";
import { fill, h } from "./dom.js";
import { bytes, counted, duration, number } from "./words.js";

const EVERY_MS = 2000;
/// Three minutes.
const PLACES = 90;

export class FiguresView {
  #timer;
  #underway;
  #entered = false;

  constructor({ api }) {
    this.api = api;
    this.readings = [];
    this.plain = h("div", { class: "tiles tiles-plain" });
    this.body = h("div", { class: "tiles" });
    this.notice = h("div", {});
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Figures"), h("p", { class: "soft" }, "Read every two seconds, the last three minutes")),
      this.notice, this.plain, this.body);
    document.addEventListener("visibilitychange", () => this.#restart());
  }

  enter() {
    this.#entered = true;
    this.#restart();
  }

  leave() {
    this.#entered = false;
    this.#restart();
  }

  #restart() {
    clearTimeout(this.#timer);
    this.#underway?.abort();
    if (this.#entered && document.visibilityState === "visible") this.#read();
  }

  async #read() {
    const underway = new AbortController();
    this.#underway = underway;
    try {
      const figures = await this.api.get("/figures", { signal: underway.signal });
      this.#take(figures);
      fill(this.notice);
    } catch (error) {
      if (wasAborted(error)) return;
      fill(this.notice, h("p", { class: "notice notice-bad", role: "alert" }, told(error)));
    }
    if (underway === this.#underway) this.#timer = setTimeout(() => this.#read(), EVERY_MS);
  }

  #take(figures) {
    const at = performance.now();
    const before = this.readings.at(-1);
    const moment = { at, figures };
    // After a restart of the server its counts begin anew.
    if (before && figures.searches.count >= before.figures.searches.count && figures.writes.count >= before.figures.writes.count) {
      const seconds = (at - before.at) / 1000;
      for (const work of ["searches", "writes"]) {
        const times = between(before.figures[work].times, figures[work].times);
        moment[work] = {
          rate: (figures[work].count - before.figures[work].count) / seconds,
          p50: quantile(times, 0.5),
          p95: quantile(times, 0.95),
        };
      }
    }
    this.readings.push(moment);
    if (this.readings.length > PLACES) this.readings.shift();
    this.#draw(figures);
  }

  #draw(figures) {
    const { products, searches, writes, process } = figures;
    const all = products.visible + products.hidden;
    fill(this.plain,
      tile("Products", number(all), `${number(products.visible)} visible, ${number(products.hidden)} hidden`),
      process && process.vectors_waiting !== null ? indexing(process.vectors_waiting) : undefined,
      process ? tile("Running for", duration(process.uptime_seconds * 1000), `${counted(process.writes_waiting, "write")} waiting`) : undefined);
    fill(this.body,
      this.#rates("Searches", "searches", searches),
      this.#latency("Time to answer a search", "searches", searches),
      this.#rates("Writes", "writes", writes),
      this.#latency("Time to answer a write", "writes", writes),
      process ? this.#memory(process) : undefined);
  }

  #values(read) {
    return this.readings.map(read);
  }

  #rates(title, work, { count, failed }) {
    const values = this.#values((moment) => moment[work]?.rate);
    const now = values.at(-1);
    const text = now === undefined ? "–" : `${now >= 10 ? Math.round(now) : now.toFixed(1)} a second`;
    return tile(title, text, `${number(count)} since the start${failed > 0 ? `, ${number(failed)} failed` : ""}`,
      lineChart({ series: [{ kind: "main", values }], label: `${title} a second over the last minutes, now ${text}`, ceiling: 1, places: PLACES }));
  }

  #latency(title, work, { p50_ms: half, p95_ms: most }) {
    const series = [
      { kind: "main", values: this.#values((moment) => moment[work]?.p50) },
      { kind: "second", values: this.#values((moment) => moment[work]?.p95) },
    ];
    const text = half === null ? "–" : duration(half);
    const detail = half === null ? "None yet" : `95 of 100 within ${duration(most)}`;
    return tile(title, text, detail, lineChart({ series, label: `${title}: ${detail}`, ceiling: 1, places: PLACES }), legend());
  }

  #memory({ memory_bytes: memory, index_bytes: index }) {
    const values = this.#values(({ figures }) => figures.process?.memory_bytes ?? undefined);
    return tile("Memory", memory === null ? "–" : bytes(memory), `${bytes(index)} of it for indexes`,
      lineChart({ series: [{ kind: "main", values }], label: `Memory over the last minutes, now ${memory === null ? "unknown" : bytes(memory)}`, places: PLACES }));
  }
}

function tile(title, value, detail, ...more) {
  return h("section", { class: "tile" },
    h("h2", { class: "tile-title" }, title),
    h("p", { class: "tile-value" }, value),
    h("p", { class: "tile-detail" }, detail),
    more);
}

function indexing(waiting) {
  return waiting === 0
    ? tile("Indexing", "Up to date", "Every product has its best vector")
    : tile("Indexing", `${number(waiting)} waiting`, "Found at once; the model reads them more closely yet");
}

function legend() {
  return h("p", { class: "legend" }, h("span", { class: "swatch swatch-main" }), "half", h("span", { class: "swatch swatch-second" }), "95 of 100");
}
