"""Is the built guide whole, and does it keep to itself?

Sphinx checks the links of the Markdown; this looks at what came of them, with everything that the theme adds: every
address within the guide leads somewhere, anchor included, and nothing is loaded from another host.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

# What a browser fetches by itself, unlike the links that people follow.
LOADED = {("link", "href"), ("object", "data"), ("image", "href"), ("use", "href")}
STYLE_ADDRESS = re.compile(r"""(?:@import\s+["']?|url\(\s*["']?)([^"')\s]+)""")


class Page(HTMLParser):
    """The addresses on a page, and the anchors it has."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.in_style = tag == "style"
        for name, value in attributes:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name == "style":
                self.loads += STYLE_ADDRESS.findall(value)
            elif name == "srcset":
                self.loads += [part.split()[0] for part in value.split(",") if part.strip()]
            elif name in ("src", "poster") or (tag, name) in LOADED:
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)

    def handle_data(self, text):
        if self.in_style:
            self.loads += STYLE_ADDRESS.findall(text)

    def handle_endtag(self, tag):
        self.in_style = False


def faults(root: Path) -> list[str]:
    """What is wrong with the guide in this folder."""
    pages = {path: Page(path.read_text()) for path in sorted(root.rglob("*.html"))}
    found = [] if pages else [f"{root}: there are no pages"]

    def check(source: Path, address: str, loaded: bool):
        parts = urlsplit(address)
        if parts.scheme == "data":
            return
        if parts.scheme or parts.netloc:
            if loaded:
                found.append(f"{source}: loads {address} from another host")
            return
        path, anchor = urldefrag(address)
        path = path.partition("?")[0]
        target = (source.parent / unquote(path)).resolve() if path else source.resolve()
        if not target.is_file():
            found.append(f"{source}: {address} leads nowhere")
        elif anchor and target.suffix == ".html" and unquote(anchor) not in by_place[target].anchors:
            found.append(f"{source}: {address} has no such anchor")

    by_place = {path.resolve(): page for path, page in pages.items()}
    for path, page in pages.items():
        for address in page.links:
            check(path, address, loaded=False)
        for address in page.loads:
            check(path, address, loaded=True)
    for path in sorted(root.rglob("*.css")):
        for address in STYLE_ADDRESS.findall(path.read_text()):
            check(path, address, loaded=True)
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    wrong = faults(folder)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    if not wrong:
        print(f"{folder}/index.html: {len(list(folder.rglob('*.html')))} pages, every link leads somewhere")
    sys.exit(1 if wrong else 0)
