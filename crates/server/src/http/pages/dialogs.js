// Dialogs and toast messages.

import { byId, h, icon } from "./dom.js";

/// Opens a dialog with this content and removes it when it is closed. Returns its element.
export function openDialog({ title, content, wide = false, onClose }) {
  const id = `dialog-${Math.random().toString(36).slice(2)}`;
  const close = h("button", {
    class: "button button-quiet button-round dialog-close", type: "button", "aria-label": "Close",
    on: { click: () => dialog.close() },
  }, icon("close"));
  const dialog = h("dialog", {
    class: wide ? "dialog dialog-wide" : "dialog", "aria-labelledby": id,
    on: {
      close: () => {
        dialog.remove();
        onClose?.();
      },
    },
  }, h("div", { class: "dialog-head" }, h("h2", { class: "dialog-title", id }, title), close), content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/// Asks for confirmation; resolves to `true` only if the user confirms.
export function confirmed({ title, text, action }) {
  return new Promise((resolve) => {
    let answer = false;
    const yes = h("button", {
      class: "button button-bad-main", type: "button",
      on: {
        click: () => {
          answer = true;
          dialog.close();
        },
      },
    }, action);
    const no = h("button", { class: "button", type: "button", autofocus: true, on: { click: () => dialog.close() } }, "Keep");
    const content = h("div", { class: "stack" }, h("p", { class: "soft" }, text), h("div", { class: "actions" }, no, yes));
    const dialog = openDialog({ title, content, onClose: () => resolve(answer) });
    no.focus();
  });
}

const STAYS_MS = 6000;

/// Shows a toast message; errors stay until they are closed.
export function say(text, kind = "good") {
  const close = h("button", { class: "button button-quiet button-round button-small", type: "button", "aria-label": "Close", on: { click: () => note.remove() } }, icon("close"));
  const note = h("div", { class: `toast notice-${kind}` }, icon(kind === "good" ? "done" : "warning"), h("p", {}, text), close);
  byId("toasts").append(note);
  if (kind === "good") setTimeout(() => note.remove(), STAYS_MS);
}
