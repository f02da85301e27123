"""The links of pages, and the table of those that lead outside: ``python -m tests.links``."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "reference" / "outside.md"
CODE = re.compile(r"^(```+).*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?\)")


def pages():
    """Return the Markdown pages that people read."""
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    built = ROOT / "docs" / "_build"
    return own + sorted(page for page in ROOT.glob("docs/**/*.md") if built not in page.parents)


def links(page):
    """Return where a Markdown page leads, code left aside."""
    return LINK.findall(CODE.sub("", page.read_text("utf-8")))


def anchors(page):
    """Return the anchors of a Markdown page's headings, as GitHub and the site make them."""
    found = []
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text("utf-8"),
                              flags=re.MULTILINE | re.DOTALL), re.MULTILINE):  # fmt: skip
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        again = sum(one == plain for one in found)
        found.append(plain)
        if again:
            found.append(f"{plain}-{again}")
    return set(found)


def outside():
    """Return the addresses that pages lead to, each with the pages that do."""
    found = {}
    for page in pages():
        for link in links(page):
            if urlsplit(link).scheme and page != TABLE:
                found.setdefault(link, []).append(page.relative_to(ROOT).as_posix())
    return dict(sorted(found.items()))


def table():
    """Return the page of links that lead outside."""
    rows = [f"| <{link}> | {', '.join(where)} |" for link, where in outside().items()]
    return "\n".join([
        "# Links that lead outside", "",
        "The site works without a network; it fetches nothing from these addresses.",
        "", "| address | on |", "|---|---|", *rows, "",
    ])  # fmt: skip


class Built(HTMLParser):
    """Reads the anchors and addresses of a page of the built site."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.leads_to, self.fetched = set(), [], []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note what an element is called and where it leads."""
        known = dict(attrs)
        self.ids |= {known[name] for name in ("id", "name") if known.get(name)}
        if tag == "a" and known.get("href"):
            self.leads_to.append(known["href"])
        elif tag in {"link", "script", "img", "iframe", "source"}:
            self.fetched += [known[name] for name in ("href", "src") if known.get(name)]


def broken(site):
    """Return the links of a built site that lead nowhere, as "page: link"."""
    own = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    read = {page.resolve(): Built(page) for page in sorted(own)}
    found = []
    for page, parts in read.items():
        for link in parts.leads_to + parts.fetched:
            path, _, anchor = link.partition("#")
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            known = read.get(target)
            if not target.is_file() or (anchor and known and unquote(anchor) not in known.ids):
                found.append(f"{page.relative_to(site.resolve())}: {link}")
    return found


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
