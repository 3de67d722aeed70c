// The dashboard: the shop's stats, polled every two seconds while the view is visible.

import { told, wasAborted } from "./api.js";
import { between, lineChart, quantile } from "./charts.js";
import { fill, h } from "./dom.js";
import { bytes, counted, duration, number } from "./words.js";

const POLL_MS = 2000;
/// Samples in the charts: three minutes.
const SAMPLES = 90;

export class DashboardView {
  #timer;
  #underway;
  #entered = false;

  constructor({ api }) {
    this.api = api;
    this.samples = [];
    this.plain = h("div", { class: "tiles tiles-plain" });
    this.body = h("div", { class: "tiles" });
    this.notice = h("div", {});
    this.element = h("section", { class: "stack-wide" },
      h("div", { class: "view-head" }, h("h1", { class: "view-title" }, "Dashboard"), h("p", { class: "soft" }, "Updated every two seconds, last three minutes")),
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
      const stats = await this.api.get("/figures", { signal: underway.signal });
      this.#add(stats);
      fill(this.notice);
    } catch (error) {
      if (wasAborted(error)) return;
      fill(this.notice, h("p", { class: "notice notice-bad", role: "alert" }, told(error)));
    }
    if (underway === this.#underway) this.#timer = setTimeout(() => this.#read(), POLL_MS);
  }

  #add(stats) {
    const at = performance.now();
    const before = this.samples.at(-1);
    const sample = { at, stats };
    // Counts restart at 0 with the server.
    if (before && stats.searches.count >= before.stats.searches.count && stats.writes.count >= before.stats.writes.count) {
      const seconds = (at - before.at) / 1000;
      for (const kind of ["searches", "writes"]) {
        const times = between(before.stats[kind].times, stats[kind].times);
        sample[kind] = {
          rate: (stats[kind].count - before.stats[kind].count) / seconds,
          p50: quantile(times, 0.5),
          p95: quantile(times, 0.95),
        };
      }
    }
    this.samples.push(sample);
    if (this.samples.length > SAMPLES) this.samples.shift();
    this.#draw(stats);
  }

  #draw(stats) {
    const { products, searches, writes, process } = stats;
    const all = products.visible + products.hidden;
    fill(this.plain,
      tile("Products", number(all), `${number(products.visible)} visible, ${number(products.hidden)} hidden`),
      process && process.vectors_waiting !== null ? indexing(process.vectors_waiting) : undefined,
      process ? tile("Uptime", duration(process.uptime_seconds * 1000), `${counted(process.writes_waiting, "write")} waiting`) : undefined);
    fill(this.body,
      this.#rates("Searches", "searches", searches),
      this.#latency("Search latency", "searches", searches),
      this.#rates("Writes", "writes", writes),
      this.#latency("Write latency", "writes", writes),
      process ? this.#memory(process) : undefined);
  }

  #values(read) {
    return this.samples.map(read);
  }

  #rates(title, kind, { count, failed }) {
    const values = this.#values((sample) => sample[kind]?.rate);
    const now = values.at(-1);
    const text = now === undefined ? "–" : `${now >= 10 ? Math.round(now) : now.toFixed(1)} per second`;
    return tile(title, text, `${number(count)} since the start${failed > 0 ? `, ${number(failed)} failed` : ""}`,
      lineChart({ series: [{ kind: "main", values }], label: `${title} per second over the last minutes, now ${text}`, ceiling: 1, samples: SAMPLES }));
  }

  #latency(title, kind, { p50_ms: p50, p95_ms: p95 }) {
    const series = [
      { kind: "main", values: this.#values((sample) => sample[kind]?.p50) },
      { kind: "second", values: this.#values((sample) => sample[kind]?.p95) },
    ];
    const text = p50 === null ? "–" : `p50 ${duration(p50)}`;
    const detail = p50 === null ? "None yet" : `p95 ${duration(p95)}`;
    return tile(title, text, detail, lineChart({ series, label: `${title}: ${detail}`, ceiling: 1, samples: SAMPLES }), legend());
  }

  #memory({ memory_bytes: memory, index_bytes: index }) {
    const values = this.#values(({ stats }) => stats.process?.memory_bytes ?? undefined);
    return tile("Memory", memory === null ? "–" : bytes(memory), `${bytes(index)} of it for indexes`,
      lineChart({ series: [{ kind: "main", values }], label: `Memory over the last minutes, now ${memory === null ? "unknown" : bytes(memory)}`, samples: SAMPLES }));
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
    ? tile("Indexing", "Up to date", "Every product has a deep vector")
    : tile("Indexing", `${number(waiting)} waiting`, "Found by their instant vectors until the deep ones are ready");
}

function legend() {
  return h("p", { class: "legend" }, h("span", { class: "swatch swatch-main" }), "p50", h("span", { class: "swatch swatch-second" }), "p95");
}
