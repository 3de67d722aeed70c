// A drawer for narrow screens: a modal dialog that borrows an element of the page while it is open.

import { h, icon } from "./dom.js";
import { text } from "./texts.js";

/// Where the page has no room for a column beside the products.
const NARROW = window.matchMedia("(max-width: 60rem)");

export class Drawer {
  /// `content` is shown in the drawer while it is open, and at its place in the page otherwise;
  /// `foot` are the elements below it.
  constructor({ title, content, foot, onlyNarrow = true }) {
    this.content = content;
    const close = h("button", { class: "button button-quiet button-round", type: "button", "aria-label": text("page.close"), "data-label": "page.close", on: { click: () => this.close() } }, icon("close"));
    this.body = h("div", { class: "drawer-body" });
    this.dialog = h("dialog", {
      class: "drawer", "aria-labelledby": "drawer-title",
      on: {
        close: () => this.#giveBack(),
        click: (event) => {
          if (event.target === this.dialog) this.close();
        },
      },
    },
    h("div", { class: "drawer-head" }, h("h2", { class: "drawer-title", id: "drawer-title", tabindex: "-1" }, title), close),
    this.body,
    h("div", { class: "drawer-foot" }, foot));
    document.body.append(this.dialog);
    if (onlyNarrow) NARROW.addEventListener("change", () => this.close());
  }

  open() {
    this.place = this.content.parentElement;
    this.body.append(this.content);
    this.dialog.showModal();
    this.dialog.querySelector(".drawer-title").focus();
  }

  close() {
    if (this.dialog.open) this.dialog.close();
  }

  #giveBack() {
    this.place?.append(this.content);
  }
}
