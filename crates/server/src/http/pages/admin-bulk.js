// Bulk actions on selected products: hide, show, set price, delete. Errors are listed by product.

import { told } from "./api.js";
import { confirmed, openDialog, say } from "./dialogs.js";
import { fill, h, icon } from "./dom.js";
import { counted } from "./words.js";

/// The most products in one request.
const BATCH = 100;

export class BulkActions {
  /// `selected` maps ids to titles; products that were changed are removed from it.
  constructor({ api, selected, onDone }) {
    Object.assign(this, { api, selected, onDone });
    this.count = h("p", { class: "bulk-count", role: "status" });
    this.buttons = [
      this.#button("Hide", "hide", () => this.#change({ hidden: true }, "hidden")),
      this.#button("Show", "eye", () => this.#change({ hidden: false }, "shown")),
      this.#button("Set price…", "edit", () => this.#askPrice()),
      this.#button("Delete…", "bin", () => this.#delete(), "button-bad"),
    ];
    const clear = h("button", { class: "button button-quiet button-small", type: "button", on: { click: () => this.#clear() } }, "Clear");
    this.element = h("div", { class: "bulk", role: "region", "aria-label": "Selected products", hidden: true }, this.count, this.buttons, clear);
  }

  show(onClear) {
    this.onClear = onClear;
    this.element.hidden = this.selected.size === 0;
    fill(this.count, `${counted(this.selected.size, "product")} selected`);
  }

  #button(text, name, action, kind = "") {
    return h("button", { class: `button button-small ${kind}`, type: "button", on: { click: action } }, icon(name), text);
  }

  #clear() {
    this.selected.clear();
    this.onClear();
  }

  async #change(fields, done) {
    await this.#inBatches(async (ids) => {
      const body = { products: ids.map((id) => ({ id, ...fields })) };
      const answer = (await this.api.call("PUT", "/products/bulk", { body })).body;
      const errors = answer.errors.map((error) => ({ ...error, id: error.id ?? ids[error.index] }));
      return { done: answer.updated_ids, errors };
    }, done);
  }

  async #delete() {
    const count = counted(this.selected.size, "product");
    const sure = await confirmed({ title: `Delete ${count}?`, text: "They leave the shop for good.", action: "Delete" });
    if (!sure) return;
    await this.#inBatches(async (ids) => {
      await this.api.call("DELETE", "/products/bulk", { body: { product_ids: ids } });
      return { done: ids, errors: [] };
    }, "deleted");
  }

  #askPrice() {
    const input = h("input", { class: "field-input", id: "bulk-price", type: "text", required: true, placeholder: "$19.99", autocomplete: "off" });
    const form = h("form", {
      class: "stack",
      on: {
        submit: (event) => {
          event.preventDefault();
          dialog.close();
          this.#change({ price: input.value.trim() }, "updated");
        },
      },
    },
    h("div", { class: "field" }, h("label", { class: "field-label", for: "bulk-price" }, "Price, with its currency"), input),
    h("div", { class: "actions" }, h("button", { class: "button button-main", type: "submit" }, "Set price")));
    const dialog = openDialog({ title: `Price of ${counted(this.selected.size, "product")}`, content: form });
    input.focus();
  }

  /// Sends the selection in batches. Products that were changed are deselected; the others stay selected.
  async #inBatches(send, done) {
    const titles = new Map(this.selected);
    const ids = [...titles.keys()];
    const refused = [];
    let count = 0;
    for (const button of this.buttons) button.disabled = true;
    try {
      for (let at = 0; at < ids.length; at += BATCH) {
        const outcome = await send(ids.slice(at, at + BATCH));
        for (const id of outcome.done) this.selected.delete(id);
        count += outcome.done.length;
        refused.push(...outcome.errors);
      }
    } catch (error) {
      say(told(error), "bad");
    } finally {
      for (const button of this.buttons) button.disabled = false;
    }
    if (count > 0) say(`${counted(count, "product")} ${done}.`);
    if (refused.length > 0) showRefused(refused, titles);
    this.onClear();
    await this.onDone();
  }
}

function showRefused(refused, titles) {
  const rows = refused.map(({ id, field, message }) => h("tr", {},
    h("td", {}, titles.get(id) ?? ""), h("td", {}, String(id)), h("td", {}, field ? `${field}: ${message}` : message)));
  openDialog({
    title: `${counted(refused.length, "change was", "changes were")} refused`,
    wide: true,
    content: h("div", { class: "stack" },
      h("p", { class: "soft" }, "These products are unchanged and still selected."),
      h("div", { class: "scroll" }, h("table", { class: "plain" },
        h("thead", {}, h("tr", {}, ["Product", "Id", "Error"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, rows)))),
  });
}
