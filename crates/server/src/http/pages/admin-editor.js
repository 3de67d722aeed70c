// The form of one product. What was typed survives a reload, an expired token and a concurrent change.

import { AttributeRows, fromRows, toRows } from "./admin-attributes.js";
import { Problem, told } from "./api.js";
import { inferredLine } from "./attributes.js";
import { openDialog, say } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { isBlocked, picture } from "./pictures.js";
import { recall, remember } from "./storage.js";

/// The storage key of an unfinished form: `{ id, etag, key, fields, attributesRead, inferred }`.
const DRAFT = "draft.product";
const EMPTY = { title: "", description: "", price: "", hidden: false, media: "", key: "", url: "", attributes: [] };

export class Editor {
  /// `attributeNames` returns the names that the form suggests.
  constructor({ api, onSaved, attributeNames }) {
    Object.assign(this, { api, onSaved, attributeNames });
  }

  create() {
    // The idempotency key makes the create safe to repeat after a lost response.
    this.#open({ id: undefined, key: crypto.getRandomValues(new Uint32Array(4)).join("-"), fields: { ...EMPTY } });
  }

  async edit(id) {
    try {
      this.#open(await this.#read(id));
    } catch (error) {
      say(told(error), "bad");
    }
  }

  /// Opens the form that was open before a reload, if there was one.
  resume() {
    const draft = recall(DRAFT);
    if (draft) this.#open(draft, "What you had written is still here.");
  }

  async #read(id) {
    const { body, headers } = await this.api.call("GET", `/products/${id}`);
    const fields = toFields(body);
    return { id, etag: headers.get("etag"), fields, attributesRead: JSON.stringify(fields.attributes), inferred: inferredLine(body) };
  }

  #open(draft, notice) {
    draft.fields = { ...EMPTY, ...draft.fields };
    this.draft = draft;
    this.fields = {
      title: h("input", { class: "field-input", id: "product-title", type: "text", required: true, maxlength: "500", value: draft.fields.title, dir: "auto" }),
      price: h("input", { class: "field-input", id: "product-price", type: "text", required: true, placeholder: "$19.99 or 19,99 €", autocomplete: "off", value: draft.fields.price }),
      description: h("textarea", { class: "field-input", id: "product-description", rows: "6", maxlength: "20000", value: draft.fields.description, dir: "auto" }),
      media: h("textarea", { class: "field-input field-small", id: "product-media", rows: "2", spellcheck: "false", placeholder: "https://…", value: draft.fields.media }),
      key: h("input", { class: "field-input", id: "product-key", type: "text", maxlength: "100", autocomplete: "off", spellcheck: "false", value: draft.fields.key }),
      url: h("input", { class: "field-input", id: "product-url", type: "url", maxlength: "2000", autocomplete: "off", placeholder: "https://…", value: draft.fields.url }),
      hidden: h("input", { id: "product-hidden", type: "checkbox", checked: draft.fields.hidden }),
    };
    this.attributes = new AttributeRows({ rows: draft.fields.attributes, names: this.attributeNames() });
    this.notice = h("div", {}, notice ? h("p", { class: "notice notice-good" }, notice) : undefined);
    this.preview = h("div", { class: "editor-preview" });
    this.saveButton = h("button", { class: "button button-main", type: "submit" }, draft.id ? "Save" : "Create");
    const cancel = h("button", { class: "button", type: "button", on: { click: () => this.dialog.close() } }, "Cancel");
    const form = h("form", {
      class: "stack editor",
      on: {
        input: () => this.#keep(),
        submit: (event) => {
          event.preventDefault();
          this.#save();
        },
      },
    },
    this.notice,
    h("div", { class: "fields-row fields-title-price" }, field("Title", this.fields.title), field("Price", this.fields.price)),
    field("Description", this.fields.description),
    h("div", { class: "fields-row fields-key-url" }, field("Key, such as a SKU", this.fields.key), field("The product’s page", this.fields.url)),
    this.attributes.element,
    draft.inferred ? h("p", { class: "hint editor-inferred" }, "Inferred from the texts, as of the last save: ", draft.inferred) : undefined,
    field("Pictures, one address a line", this.fields.media),
    this.preview,
    h("label", { class: "check" }, this.fields.hidden, "Hidden from shoppers"),
    h("div", { class: "actions" }, cancel, this.saveButton));
    this.dialog = openDialog({ title: draft.id ? `Product ${draft.id}` : "New product", content: form, wide: true, onClose: () => remember(DRAFT, undefined) });
    this.fields.title.focus();
    this.#keep();
  }

  #written() {
    const { title, price, description, media, key, url, hidden } = this.fields;
    return {
      title: title.value, price: price.value, description: description.value, media: media.value, hidden: hidden.checked,
      key: key.value, url: url.value, attributes: this.attributes.written(),
    };
  }

  #keep() {
    this.draft.fields = this.#written();
    remember(DRAFT, this.draft);
    const media = toMedia(this.draft.fields.media);
    if (media[0]?.url === this.previewed) return;
    this.previewed = media[0]?.url;
    const shown = this.previewed && URL.canParse(this.previewed)
      ? [picture({ title: this.draft.fields.title || "·", media: media.slice(0, 1) }, { eager: true }), h("p", { class: "hint" })]
      : [];
    fill(this.preview, shown);
    this.preview.querySelector("img")?.addEventListener("error", () => this.#explainPicture(media[0].url));
  }

  #explainPicture(url) {
    const why = isBlocked(url)
      ? ["Stored, but the pages may not load pictures from there; ", h("code", {}, "pages.image_origins"), " says which they may."]
      : ["This picture could not be loaded."];
    const hint = this.preview.querySelector(".hint");
    if (hint) fill(hint, why);
  }

  async #save() {
    this.#showErrors(new Map());
    const written = this.#written();
    const { attributes, errors } = fromRows(written.attributes);
    if (errors.size > 0) return this.attributes.showErrors(errors).focus();
    this.saveButton.disabled = true;
    try {
      const body = toBody(written, this.draft.id === undefined);
      // Attributes that were not touched are not sent, so that no form can change them.
      if (JSON.stringify(written.attributes) !== this.draft.attributesRead) body.attributes = attributes;
      if (this.draft.id === undefined) {
        await this.api.call("POST", "/products", { body, headers: { "Idempotency-Key": this.draft.key } });
      } else {
        await this.api.call("PUT", `/products/${this.draft.id}`, { body, headers: { "If-Match": this.draft.etag } });
      }
      this.dialog.close();
      say(this.draft.id === undefined ? "Created." : "Saved.");
      await this.onSaved();
    } catch (error) {
      this.#refused(error);
    } finally {
      this.saveButton.disabled = false;
    }
  }

  #refused(error) {
    if (error instanceof Problem && error.status === 412) return this.#showConflict();
    if (error instanceof Problem && error.status === 409) this.draft.key = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const errors = error instanceof Problem ? error.byField() : new Map();
    const placed = this.#showErrors(errors);
    fill(this.notice, placed ? undefined : h("p", { class: "notice notice-bad", role: "alert" }, told(error)));
  }

  /// Shows each error at its field; `false` where an error has no field.
  #showErrors(errors) {
    let first;
    for (const [name, input] of Object.entries(this.fields)) {
      const message = [...errors].find(([path]) => path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`))?.[1];
      const place = input.closest(".field")?.querySelector(".field-error");
      if (place) fill(place, message);
      input.setAttribute("aria-invalid", message ? "true" : "false");
      if (message) first ??= input;
    }
    first ??= this.attributes.showProblems(errors);
    first?.focus();
    return errors.size > 0 && first !== undefined;
  }

  #showConflict() {
    const take = async (keepMine) => {
      try {
        const theirs = await this.#read(this.draft.id);
        const mine = this.#written();
        this.dialog.close();
        this.#open(keepMine ? { ...theirs, fields: mine } : theirs, keepMine ? "Yours is kept; save it to replace theirs." : "This is how it is now.");
      } catch (error) {
        this.#refused(error);
      }
    };
    fill(this.notice, h("div", { class: "notice notice-warn", role: "alert" },
      h("p", {}, "This product was changed while you were editing it."),
      h("div", { class: "actions" },
        h("button", { class: "button button-small", type: "button", on: { click: () => take(false) } }, "Take theirs"),
        h("button", { class: "button button-small", type: "button", on: { click: () => take(true) } }, "Keep mine"))));
  }
}

function field(label, input) {
  const error = `${input.id}-error`;
  input.setAttribute("aria-describedby", error);
  return h("div", { class: "field" }, h("label", { class: "field-label", for: input.id }, label), input, h("p", { class: "field-error", id: error }));
}

function toFields({ title, description, price, hidden, media, key = "", url = "", attributes }) {
  return { title, description, price, hidden, key, url, media: media.map((item) => item.url).join("\n"), attributes: toRows(attributes) };
}

function toMedia(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").map((url) => ({ url, type: "image" }));
}

/// The body of a create or an update. A blank key or URL is left out of a create, and removes it in an
/// update.
function toBody({ title, description, price, hidden, media, key, url }, isNew) {
  const body = { title, description, price, hidden, media: toMedia(media) };
  if (key !== "" || !isNew) body.key = key;
  if (url.trim() !== "" || !isNew) body.url = url.trim();
  return body;
}
