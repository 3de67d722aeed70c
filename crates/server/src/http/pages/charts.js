// Line charts in SVG, with a text label for screen readers; and quantiles of latency histograms.

import { h } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 84;
const MARGIN = 4;

/// A chart of lines over the same sample times: `series` is `[{ kind, values }]`, where a value may be
/// `undefined`. The y axis ends at `ceiling` or above; the x axis has room for `samples` values.
export function lineChart({ series, label, ceiling = 0, samples }) {
  const top = Math.max(ceiling, ...series.flatMap(({ values }) => values.filter((value) => value !== undefined)), Number.EPSILON);
  const x = (place) => ((place + samples - Math.max(...series.map(({ values }) => values.length))) / Math.max(samples - 1, 1)) * WIDTH;
  const y = (value) => HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN);
  const lines = series.map(({ kind, values }) => pieces(values).map((piece) => {
    const points = piece.map(([place, value]) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`);
    const line = h("polyline", { class: `line line-${kind}`, points: points.join(" ") });
    if (kind !== "main") return line;
    const [first, last] = [piece[0][0], piece.at(-1)[0]];
    return [h("polygon", { class: "area", points: `${x(first).toFixed(1)},${HEIGHT} ${points.join(" ")} ${x(last).toFixed(1)},${HEIGHT}` }), line];
  }));
  return h("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    h("line", { class: "chart-base", x1: "0", y1: String(HEIGHT - 0.5), x2: String(WIDTH), y2: String(HEIGHT - 0.5) }), lines);
}

/// The runs without a gap, each as `[index, value]` pairs. A single value becomes a short line.
export function pieces(values) {
  const found = [];
  let piece = [];
  values.forEach((value, place) => {
    if (value !== undefined) return piece.push([place, value]);
    if (piece.length > 0) found.push(piece);
    piece = [];
  });
  if (piece.length > 0) found.push(piece);
  return found.map((one) => (one.length === 1 ? [one[0], [one[0][0] + 0.5, one[0][1]]] : one));
}

/// The difference between two samples of `times`, whose counts never decrease.
export function between(before, after) {
  const earlier = new Map(before.map(({ up_to_ms, count }) => [up_to_ms, count]));
  return after.map(({ up_to_ms, count }) => ({ up_to_ms, count: count - (earlier.get(up_to_ms) ?? 0) })).filter(({ count }) => count > 0);
}

/// The latency at this quantile; `undefined` without requests.
export function quantile(times, share) {
  const all = times.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.max(Math.ceil(all * share), 1);
  let seen = 0;
  for (const { up_to_ms, count } of times) {
    seen += count;
    if (seen >= rank) return up_to_ms;
  }
  return undefined;
}
