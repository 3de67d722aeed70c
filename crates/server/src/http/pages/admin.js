// The admin page: shows one view at a time. A view keeps its state while another one is shown.

import { Api, Problem } from "./api.js";
import { CatalogView } from "./admin-catalog.js";
import { DashboardView } from "./admin-dashboard.js";
import { ImportView } from "./admin-import.js";
import { SearchView } from "./admin-search.js";
import { TokensView } from "./admin-tokens.js";
import { byId, fill, h, icon } from "./dom.js";
import { AskedSession, addSignOut } from "./signin.js";

const VIEWS = [
  { name: "catalog", title: "Catalog", icon: "list", make: (page) => new CatalogView(page) },
  { name: "import", title: "Import", icon: "upload", make: (page) => new ImportView(page) },
  { name: "search", title: "Search lab", icon: "search", make: (page) => new SearchView(page) },
  { name: "dashboard", title: "Dashboard", icon: "chart", make: (page) => new DashboardView(page) },
  { name: "tokens", title: "Tokens", icon: "key", role: "ADMIN", make: (page) => new TokensView(page) },
];

/// Former names of views, so that bookmarks keep working.
const FORMER_NAMES = { "/figures": "/dashboard" };

class AdminPage {
  #views = new Map();
  #current;

  constructor(api, stats) {
    this.api = api;
    this.shop = stats.shop_id;
    this.role = stats.role;
    this.views = VIEWS.filter(({ role }) => role === undefined || role === this.role);
    fill(byId("tabs"), this.views.map((view) => h("a", { class: "tab", href: `#/${view.name}` }, icon(view.icon), h("span", {}, view.title))));
    fill(byId("who"), `Shop ${stats.shop_id} · ${stats.role}`);
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("view").focus();
    });
    window.addEventListener("hashchange", () => this.#follow());
    this.#follow();
  }

  /// Shows the view that the URL's fragment names.
  #follow() {
    const [fragment, query] = location.hash.slice(1).split("?");
    const path = FORMER_NAMES[fragment] ?? fragment;
    const named = this.views.find(({ name }) => path === `/${name}`) ?? this.views[0];
    for (const tab of byId("tabs").children) {
      const current = tab.getAttribute("href") === `#/${named.name}`;
      if (current) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
      // On a phone the tabs are wider than the screen.
      if (current) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (!this.#views.has(named.name)) this.#views.set(named.name, named.make(this));
    const view = this.#views.get(named.name);
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
  why: "The admin page needs a token with the role EDITOR or ADMIN.",
  command: "shopkeeper token create --shop 1 --role EDITOR",
});
addSignOut(session);

/// The stats of the token's shop. Asks for another token while the role is insufficient.
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
new AdminPage(api, await identify(api));
