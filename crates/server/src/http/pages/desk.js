// What does someone who keeps the shop see? The desk: one view at a time, each keeping its state
// while another is looked at.

import { Api, Problem } from "./api.js";
import { CatalogView } from "./desk-catalog.js";
import { FiguresView } from "./desk-figures.js";
import { ImportView } from "./desk-import.js";
import { SearchView } from "./desk-search.js";
import { TokensView } from "./desk-tokens.js";
import { byId, fill, h, icon } from "./dom.js";
import { AskedSession, offerToLeave } from "./signin.js";

const VIEWS = [
  { name: "catalog", title: "Catalog", icon: "list", make: (desk) => new CatalogView(desk) },
  { name: "import", title: "Import", icon: "upload", make: (desk) => new ImportView(desk) },
  { name: "search", title: "Search lab", icon: "search", make: (desk) => new SearchView(desk) },
  { name: "figures", title: "Figures", icon: "chart", make: (desk) => new FiguresView(desk) },
  { name: "tokens", title: "Tokens", icon: "key", role: "ADMIN", make: (desk) => new TokensView(desk) },
];

class Desk {
  #made = new Map();
  #current;

  constructor(api, figures) {
    this.api = api;
    this.shop = figures.shop_id;
    this.role = figures.role;
    this.views = VIEWS.filter(({ role }) => role === undefined || role === this.role);
    fill(byId("tabs"), this.views.map((view) => h("a", { class: "tab", href: `#/${view.name}` }, icon(view.icon), h("span", {}, view.title))));
    fill(byId("who"), `Shop ${figures.shop_id} · ${figures.role}`);
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("view").focus();
    });
    window.addEventListener("hashchange", () => this.#follow());
    this.#follow();
  }

  /// Shows the view that the address names.
  #follow() {
    const [path, query] = location.hash.slice(1).split("?");
    const named = this.views.find(({ name }) => path === `/${name}`) ?? this.views[0];
    for (const tab of byId("tabs").children) {
      const current = tab.getAttribute("href") === `#/${named.name}`;
      if (current) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
      // On a phone the tabs are wider than the screen.
      if (current) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (!this.#made.has(named.name)) this.#made.set(named.name, named.make(this));
    const view = this.#made.get(named.name);
    if (view !== this.#current) {
      this.#current?.leave?.();
      this.#current = view;
      fill(byId("view"), view.element);
      document.title = `${named.title} · Shopkeeper`;
    }
    view.enter(new URLSearchParams(query));
  }
}

const session = new AskedSession({
  why: "The desk needs a token with the role EDITOR or ADMIN.",
  command: "shopkeeper token create --shop 1 --role EDITOR",
});
offerToLeave(session);

/// Whose token this is. One whose role is not enough is asked for again.
async function identify(api) {
  for (;;) {
    try {
      return await api.get("/figures");
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 403) throw error;
      await session.change(error);
    }
  }
}

const api = new Api(session);
new Desk(api, await identify(api));
