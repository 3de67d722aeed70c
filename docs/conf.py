"""How is the guide built? `make guide` runs Sphinx with this file; docs/adr/0016-the-guide.md says why.

The repository is the source, so that a link reads the same here, in an editor and on a forge. Any
doubt about a link is a warning, and every warning stops the build.
"""

project = "Shopkeeper"
html_title = "Shopkeeper"
extensions = ["myst_parser"]

root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "*/README.md", "clients/*/README.md"]
exclude_patterns = [".*", "target", "crates", "fuzz", "scripts", "shop-data", "tests"]

# The order of the pages, under their captions, by their own titles or others. What is missing here is at the end, and what
# is here but not in the repository is left out.
NAVIGATION = {
    "Start": ["docs/quickstart", "docs/install", "docs/concepts", "docs/tokens"],
    "Use": [
        "docs/search",
        "docs/languages",
        "docs/import",
        "docs/pages",
        "docs/agents",
        "TypeScript client </clients/typescript/README>",
        "Python client </clients/python/README>",
    ],
    "Run": [
        "docs/operations",
        "docs/configuration",
        "docs/scaling",
        "docs/upgrade",
        "docs/reliability",
        "docs/troubleshooting",
    ],
    "Measure": ["docs/performance", "docs/relevance"],
    "The project": [
        "The README </README>",
        "CHANGELOG",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "docs/adr/README",
        "Advisories </advisories/README>",
        "demo/README",
        "The model </models/README>",
        "Training </training/README>",
    ],
}

# Headings get the anchors that forges give them, and links to them are checked.
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_static_path = ["_guide/static"]
html_css_files = ["guide.css"]
html_extra_path = ["_guide/root"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_logo = html_favicon = "../crates/server/src/http/pages/icon.svg"
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#1f5f4e", "color-brand-content": "#1f5f4e"},
    "dark_css_variables": {"color-brand-primary": "#86cdb0", "color-brand-content": "#86cdb0"},
}
pygments_style = "default"
pygments_dark_style = "github-dark"


def path(page):
    """Where a page of the navigation is: `docs/install`, or `Title </docs/install>`."""
    return page.partition("</")[2].rstrip(">") or page


def unlisted(names):
    """The pages that nobody has given a place."""
    listed = {path(page) for pages in NAVIGATION.values() for page in pages}
    return [name for name in sorted(names - listed - {root_doc}) if not name.startswith("docs/adr/")]


def add_navigation(app, name, source):
    """Sphinx wants trees of contents in the pages; there they would be noise to everyone else."""
    trees = []
    if name == root_doc:
        there = app.project.docnames
        trees = [(caption, [page for page in pages if path(page) in there]) for caption, pages in NAVIGATION.items()]
        trees.append(("More", unlisted(there)))
    elif name == "docs/adr/README":
        pages = sorted(name for name in app.project.docnames if name.startswith("docs/adr/0"))
        trees = [("", pages)]
    for caption, pages in filter(lambda tree: tree[1], trees):
        lines = [":hidden:", f":caption: {caption}" if caption else "", ""]
        lines += [page if page.endswith(">") else f"/{page}" for page in pages]
        source[0] += "\n\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def setup(app):
    app.connect("source-read", add_navigation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
