// Product cards in a grid with arrow-key navigation.

import { h } from "./dom.js";
import { picture } from "./pictures.js";
import { price } from "./words.js";

/// A card with a link to the product's own view; `lang` is the language of the product's texts.
export function card(product, href, lang) {
  return h("li", {},
    h("a", { class: "card", href, lang, "data-product": String(product.id) },
      picture(product),
      h("span", { class: "card-text" },
        h("span", { class: "card-title", dir: "auto" }, product.title),
        product.description ? h("span", { class: "card-about", dir: "auto" }, firstWords(product.description)) : undefined,
        h("span", { class: "price" }, price(product.price)))));
}

const ABOUT_CHARACTERS = 140;

function firstWords(text) {
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length <= ABOUT_CHARACTERS ? line : `${line.slice(0, ABOUT_CHARACTERS)}…`;
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };

/// Moves the focus through a grid of cards with the arrow keys; `leave` is called above the first row.
export function walkWithArrows(grid, leave) {
  grid.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const here = event.target.closest?.(".card");
    if (!step || !here || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const cards = [...grid.querySelectorAll(".card")];
    const place = cards.indexOf(here);
    const columns = cards.filter((other) => other.offsetTop === cards[0].offsetTop).length;
    const to = Math.max(Math.min(place + step[0], cards.length - 1), 0) + step[1] * columns;
    if (to < 0) leave();
    else cards[Math.min(to, cards.length - 1)].focus();
  });
}
