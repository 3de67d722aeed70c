// The dialog of one product: pictures, description and similar products.

import { h, fill, icon } from "./dom.js";
import { Problem, told, wasAborted } from "./api.js";
import { categoryText, labelOf, valueText } from "./attributes.js";
import { card } from "./cards.js";
import { picture } from "./pictures.js";
import { text } from "./texts.js";
import { price } from "./words.js";

const SIMILAR = 4;

/// The dialog with one product. `linkTo(id)` is the URL of a product's view, `lang` the language of
/// products' texts; `onClose` is called when the user closes it.
export class Detail {
  #dialog;
  #underway;

  constructor({ api, linkTo, lang, onClose }) {
    Object.assign(this, { api, linkTo, lang, onClose });
    this.#dialog = h("dialog", {
      class: "detail", "aria-label": text("product.label"), "data-label": "product.label",
      on: {
        close: () => this.#closed(),
        click: (event) => {
          if (event.target === this.#dialog) this.#dialog.close();
        },
      },
    });
    document.body.append(this.#dialog);
  }

  /// Shows the product with this id; `known` is the product where a list already has it.
  async open(id, known) {
    this.#underway?.abort();
    this.#underway = new AbortController();
    const { signal } = this.#underway;
    this.#show(known ? this.#product(known) : h("p", { class: "soft" }, text("product.loading")));
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.scrollTop = 0;
    try {
      const product = known ?? (await this.api.get(`/products/${id}`, { signal }));
      if (!known) this.#show(this.#product(product));
      await this.#addSimilar(product, signal);
    } catch (error) {
      if (wasAborted(error)) return;
      const missing = error instanceof Problem && error.status === 404;
      this.#show(h("p", { class: "notice" }, missing ? text("product.missing") : told(error)));
    }
  }

  close() {
    this.#underway?.abort();
    this.#underway = undefined;
    if (this.#dialog.open) this.#dialog.close();
  }

  #closed() {
    const byPerson = this.#underway !== undefined;
    this.#underway?.abort();
    this.#underway = undefined;
    if (byPerson) this.onClose();
  }

  #show(content) {
    const close = h("button", {
      class: "button button-round detail-close", type: "button", "aria-label": text("page.close"),
      on: { click: () => this.#dialog.close() },
    }, icon("close"));
    fill(this.#dialog, h("div", { class: "detail-head" }, close), h("div", { class: "detail-body" }, content));
  }

  #product(product) {
    this.similar = h("section", { class: "similar", "aria-labelledby": "similar-title", hidden: true });
    return [
      h("div", { class: "detail-picture" }, picture(product, { eager: true })),
      h("div", { class: "detail-text" },
        h("h2", { class: "detail-title", dir: "auto", lang: this.lang }, product.title),
        h("p", { class: "price price-large" }, price(product.price)),
        product.hidden ? h("p", { class: "badge badge-hidden" }, text("product.hidden")) : undefined,
        product.description ? h("p", { class: "detail-about", dir: "auto", lang: this.lang }, product.description) : undefined,
        attributeList(product),
        product.url ? h("a", { class: "button", href: product.url, rel: "noopener noreferrer" }, text("product.link"), icon("out")) : undefined),
      this.similar,
    ];
  }

  async #addSimilar(product, signal) {
    const panel = this.similar;
    let found;
    try {
      found = await this.api.get(`/products/${product.id}/similar?limit=${SIMILAR}`, { signal });
    } catch (error) {
      // Similar products are optional: the dialog works without them.
      if (wasAborted(error)) throw error;
      return;
    }
    if (found.products.length === 0) return;
    fill(panel,
      h("h3", { class: "section-title", id: "similar-title" }, text("product.similar")),
      h("ul", { class: "grid grid-small" }, found.products.map((other) => card(other, this.linkTo(other.id), this.lang))));
    panel.hidden = false;
  }
}

function attributeList({ key, attributes, inferred_attributes: inferred, category }) {
  const rows = Object.entries({ ...inferred, ...attributes }).map(([name, value]) => [labelOf(name), valueText(value)]);
  if (category !== undefined) rows.push([labelOf("category"), categoryText(category)]);
  if (key !== undefined) rows.push([text("product.key"), key]);
  if (rows.length === 0) return undefined;
  return h("dl", { class: "detail-attributes" }, rows.map(([label, value]) => [h("dt", {}, label), h("dd", { dir: "auto" }, value)]));
}
