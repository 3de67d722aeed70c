// A product's first picture, or a drawing where there is none.

import { h } from "./dom.js";

/// Origins that the Content-Security-Policy blocks; each is tried once.
const blockedOrigins = new Set();
document.addEventListener("securitypolicyviolation", (event) => {
  if (event.effectiveDirective === "img-src") blockedOrigins.add(originOf(event.blockedURI));
});

/// Whether the configuration does not allow this picture (`pages.image_origins`).
export function isBlocked(address) {
  return blockedOrigins.has(originOf(address));
}

function originOf(address) {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/// A product's picture, with a drawing in its place until it has loaded.
export function picture(product, { eager = false } = {}) {
  const address = pictureAddress(product);
  const frame = h("span", { class: "picture", style: { "--hue": String(hueOf(product.title)) } }, drawing(product));
  if (address !== undefined) {
    const image = h("img", { alt: "", loading: eager ? "eager" : "lazy", decoding: "async", src: address });
    frame.classList.add("is-waiting");
    image.addEventListener("error", () => {
      image.remove();
      frame.classList.remove("is-waiting");
    });
    image.addEventListener("load", () => frame.classList.add("has-image"));
    frame.append(image);
  }
  return frame;
}

function pictureAddress(product) {
  const image = product.media?.find((item) => item.type === "image");
  if (!image) return undefined;
  const url = new URL(image.url);
  if (blockedOrigins.has(url.origin)) return undefined;
  // The demo's own pictures are on this server, whatever its host name is in the browser.
  return url.pathname.startsWith("/demo/images/") ? url.pathname + url.search : url.href;
}

/// A hue derived from the title.
export function hueOf(title) {
  let hash = 2166136261;
  for (const character of title) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
  return (hash >>> 0) % 360;
}

/// The first letter or digit of a title.
export function initialOf(title) {
  return title.match(/[\p{L}\p{N}]/u)?.[0].toLocaleUpperCase() ?? "·";
}

function drawing(product) {
  const hue = hueOf(product.title);
  const tilt = (hue % 40) - 20;
  return h("svg", { class: "drawing", viewBox: "0 0 120 90", preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true", focusable: "false" },
    h("rect", { class: "drawing-ground", width: "120", height: "90" }),
    h("circle", { class: "drawing-shape", cx: String(30 + (hue % 60)), cy: "78", r: "46" }),
    h("rect", { class: "drawing-shape", x: "74", y: "-24", width: "58", height: "58", rx: "14", transform: `rotate(${tilt} 100 6)` }),
    h("text", { class: "drawing-letter", x: "60", y: "58", "text-anchor": "middle" }, initialOf(product.title)));
}
