"""Links lead somewhere, in the pages as they are written and in the site as it is built."""

import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from tests.links import ROOT, TABLE, Built, anchors, broken, links, outside, pages, table


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_to_files_and_headings(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        if urlsplit(link).scheme:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_the_table_of_outside_links_is_up_to_date():
    assert TABLE.read_text("utf-8") == table()


@pytest.mark.parametrize("link", outside())
def test_an_outside_link_is_an_address(link):
    parts = urlsplit(link)

    assert parts.scheme == "https"
    assert "." in parts.hostname
    assert parts.port is None
    assert not parts.username
    assert all(character.isprintable() and not character.isspace() for character in link)


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a><a href="c.html">c</a>', "utf-8")
    (tmp_path / "b.html").write_text('<p id="there">b</p><img src="d.png">', "utf-8")

    assert broken(tmp_path) == ["a.html: b.html#here", "a.html: c.html", "b.html: d.png"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", ROOT / "docs", folder],
        check=True,
    )
    return folder


@pytest.mark.slow
def test_the_links_of_the_site_lead_somewhere(site):
    assert len(list(site.rglob("*.html"))) > 100
    assert broken(site) == []


@pytest.mark.slow
def test_the_site_leads_outside_where_the_table_says_and_fetches_nothing(site):
    read = [Built(page) for page in site.rglob("*.html")]
    leads_to = {link for one in read for link in one.leads_to if urlsplit(link).scheme}

    assert {link.rstrip("/") for link in leads_to} <= {link.rstrip("/") for link in outside()}
    assert not [link for one in read for link in one.fetched if urlsplit(link).netloc]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_site_opens_from_disk_and_finds_what_is_searched(site, browser, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page, asked, said = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto((site / "index.html").as_uri())
    page.goto((site / "search.html").as_uri() + "?q=assert_delta_fair")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    found = page.locator("#search-results li a").all_inner_texts()
    for name in ("tutorials/compas.html", "reference/documents.html", "reference/api.html"):
        page.goto((site / name).as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide"
    context.close()

    assert any("assert_delta_fair" in text for text in found)
    assert {urlsplit(url).scheme for url in asked} <= {"file", "data"}
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_site(site, browser, scheme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(color_scheme=scheme)
    page, found = context.new_page(), {}
    for name in ("index", "tutorials/compas", "reference/documents", "how-to/coming-from",
                 "reference/generated/fairtransport.AuditResult"):  # fmt: skip
        page.goto((site / f"{name}.html").as_uri())
        found[name] = [fault["id"] for fault in Axe().run(page).response["violations"]]
    context.close()

    assert not any(found.values()), found
