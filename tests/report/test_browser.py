"""The report in a real browser, opened from disk."""

import itertools
import re

import pytest

from fairtransport.cli import main
from fairtransport.report.text import signed
from tests.report.samples import HOSTILE, OWN_NAMES, own_names, sample

pytestmark = pytest.mark.slow

NAMES = (
    "sample",
    "with_budget",
    "hostile",
    "long",
    "family",
    "hostile_family",
    "comparison",
    "hostile_comparison",
)
CHARTS = {
    "sample": ["law", "methods", "flows-1", "flows-2", "flows-3"],
    "with_budget": ["law", "methods", "flows-1", "flows-2", "flows-3", "curve"],
}


def column(page, table, number):
    cells = page.locator(f"#table-{table} tbody tr:visible td:nth-child({number})")
    return [text.strip() for text in cells.all_inner_texts()]


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_from_disk_without_errors_or_network(visit, name):
    seen = visit(name)

    seen.page.wait_for_load_state("networkidle")

    assert seen.messages == []
    assert seen.requests == [seen.url]
    assert seen.page.evaluate("window.violations") == []


@pytest.mark.parametrize("name", CHARTS)
def test_all_charts_are_drawn(visit, name):
    page = visit(name).page

    drawn = page.evaluate(
        "[...document.querySelectorAll('[data-chart]')].filter(place => place.querySelector('svg'))"
        ".map(place => place.dataset.chart)"
    )

    assert drawn == CHARTS[name]
    numbers = page.locator("[data-chart=flows-1] .mark-text.role-mark text").all_text_contents()
    change = [f"{cell.change:+.0f}".replace("-", "−") for cell in sample().flows[0].cells]
    assert sorted(numbers) == sorted("0" if text == "+0" else text for text in change)


def test_foreign_code_does_not_run(visit):
    page = visit().page

    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
          const image = document.createElement("div");
          image.innerHTML = '<img src="https://example.org/x.png" onerror="window.hacked = 2">';
          document.body.append(image);
          const style = document.createElement("style");
          style.textContent = "body { display: none }";
          document.body.append(style);
        }"""
    )
    page.wait_for_function("window.violations.length >= 3")

    assert page.evaluate("window.hacked") is None
    assert page.locator("body").is_visible()
    found = set(page.evaluate("window.violations"))
    assert {"script-src-elem", "img-src", "style-src-elem"} <= found
    # a timer, because what the driver itself evaluates is exempt from the policy
    compiled = page.evaluate(
        """() => new Promise((resolve) => setTimeout(() => {
          try { resolve(new Function("return 'ran'")()); } catch (error) { resolve(error.name); }
        }))"""
    )
    assert compiled == "EvalError"


def test_strings_of_the_data_are_inert_and_shown_as_they_are(visit):
    seen = visit("hostile")
    page = seen.page

    page.mouse.move(300, 300)
    text = page.locator("body").inner_text()

    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main b, main i, script[src], iframe").count() == 0
    assert page.locator("script").count() == 3
    for attack in (HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3], HOSTILE[4], HOSTILE[11]):
        assert attack in text
    assert "⟨U+202E⟩gnp.exe⟨U+202C⟩" in text
    assert not set(text) & set(
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_levels_may_be_called_as_properties_of_objects_are(visit):
    seen = visit("own_names")
    place = "[data-chart=flows-1]"

    numbers = seen.page.locator(f"{place} .mark-text.role-mark text").all_text_contents()
    axes = seen.page.locator(f"{place} .role-axis-label text").all_text_contents()
    cells = own_names().flows[0].cells

    assert seen.messages == []
    assert sorted(numbers) == sorted(signed(cell.change) for cell in cells)
    assert seen.page.locator(f"{place} .mark-rect path").count() == len(cells)
    for name in (*OWN_NAMES, "toString", "valueOf", "a.b"):
        assert any(text == name or text.endswith(f": {name}") for text in axes)


def test_tables_are_sorted_by_mouse_and_keyboard(visit):
    page = visit().page
    people = [31, 24, 19, 11, 7, 4]
    button = page.locator("#table-moves th button").first

    button.click()
    assert column(page, "moves", 1) == [f"{number}" for number in people]
    assert page.locator("#table-moves th").first.get_attribute("aria-sort") == "descending"

    button.focus()
    page.keyboard.press("Enter")
    assert column(page, "moves", 1) == [f"{number}" for number in reversed(people)]
    assert page.locator("#table-moves th").first.get_attribute("aria-sort") == "ascending"

    page.locator("#table-moves th button", has_text="True label").click()
    assert column(page, "moves", 4) == ["0", "0", "0", "1", "1", "1"]
    assert page.locator("#table-moves th[aria-sort]").count() == 1


def test_what_has_no_number_is_sorted_last(visit):
    page = visit().page
    page.locator("summary", has_text="Wrong decisions").click()
    button = page.locator("#table-rates-1-2 th button", has_text="Wrong decisions")

    for rates in (["20\xa0%", "0\xa0%"], ["0\xa0%", "20\xa0%"]):
        button.click()
        assert column(page, "rates-1-2", 3) == [*rates, "–"]


def test_tables_are_filtered_and_counted(visit):
    page = visit().page
    box = page.get_by_label("Search in the table: Who is swapped with whom")
    count = page.locator("[data-table]:has(#table-moves) output")
    assert count.inner_text() == "6 rows"

    box.fill("less THAN 25")
    assert column(page, "moves", 1) == ["24", "11", "7"]
    assert count.inner_text() == "3 of 6 rows found"

    box.fill("")
    assert count.inner_text() == "6 rows"


def test_a_long_table_shows_its_first_rows_until_all_are_asked_for(visit):
    page = visit("long").page
    rows = page.locator("#table-moves tbody tr:visible")
    button = page.locator("[data-table]:has(#table-moves) .more")
    count = page.locator("[data-table]:has(#table-moves) output")
    box = page.get_by_label("Search in the table: Who is swapped with whom")
    assert (rows.count(), button.inner_text()) == (20, "Show all 180")
    assert count.inner_text() == "180 rows, the first 20 shown"

    page.locator("#table-moves th button").first.click()
    assert column(page, "moves", 1) == ["15.5"] * 20
    box.fill("less than 25")
    assert (rows.count(), button.inner_text()) == (20, "Show all 90")

    button.focus()
    page.keyboard.press("Enter")
    assert (rows.count(), button.get_attribute("aria-expanded")) == (90, "true")
    assert count.inner_text() == "90 of 180 rows found"
    box.fill("")
    assert rows.count() == 180
    button.click()
    assert rows.count() == 20


def test_of_a_long_table_a_hundred_rows_are_printed(visit):
    page = visit("long").page

    page.emulate_media(media="print")

    assert page.locator("#table-moves tbody tr:visible").count() == 100
    assert page.get_by_text("The first 100 of 180 rows are printed.").is_visible()
    assert page.locator(".more:visible").count() == 0


def test_without_scripting_a_long_table_is_whole(visit):
    page = visit("long", ready=False, java_script_enabled=False).page

    assert page.locator("#table-moves tbody tr:visible").count() == 180


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["sample", "long"])
@pytest.mark.parametrize("chart", ["law", "methods"])
def test_numbers_on_an_axis_keep_their_distance(visit, name, chart, width):
    page = visit(name, width=width).page

    boxes = page.evaluate(
        "chart => [...document.querySelectorAll(`[data-chart=${chart}] .role-axis-label text`)]"
        ".filter(text => /^[0-9.]+$/.test(text.textContent)"
        " && getComputedStyle(text).opacity !== '0')"
        ".map(text => text.getBoundingClientRect()).map(box => [box.top, box.left, box.right])",
        chart,
    )
    bottom = max(top for top, _, _ in boxes)
    ends = sorted((left, right) for top, left, right in boxes if abs(top - bottom) < 2)

    assert len(ends) >= 2
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(ends)]
    assert min(gaps) > 6


def test_a_table_that_goes_on_has_a_shadow_at_its_edge(visit):
    page = visit(width=390).page
    place = page.locator(".scroll:has(#table-moves)")

    assert place.evaluate("box => box.scrollWidth > box.clientWidth")
    assert place.evaluate("box => getComputedStyle(box).backgroundImage").count("gradient") == 4


def test_hovering_over_a_cell_shows_its_people(visit):
    page = visit().page
    cell = page.locator("[data-chart=flows-1] .mark-rect path").nth(1)

    cell.scroll_into_view_if_needed()
    cell.hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()

    words = tip.inner_text()
    for part in ("race: African-American, sex: Male", "Less than 25", "+42", "32.5 to 51.5"):
        assert part in words


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_never_scrolls_sideways(visit, name):
    page = visit(name, width=390).page

    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_it_prints(visit):
    page = visit("with_budget").page

    pdf = page.pdf(format="A4")
    page.emulate_media(media="print")

    assert pdf.startswith(b"%PDF")
    assert page.locator("nav").is_hidden()
    assert page.locator(".filter").first.is_hidden()
    page.set_viewport_size({"width": 690, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 690


def test_the_demo_prints_on_six_pages_and_says_what_is_left_out(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--quiet"])
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]", timeout=60_000)

    pdf = page.pdf(format="A4")
    page.emulate_media(media="print")
    folded = page.get_by_text("Wrong decisions", exact=True).first

    assert len(re.findall(rb"/Type /Page\b", pdf)) <= 6
    assert page.locator(".page1").evaluate("block => getComputedStyle(block).breakAfter") == "page"
    assert not folded.locator("xpath=..").locator("table").first.is_visible()
    after = folded.evaluate("summary => getComputedStyle(summary, '::after').content")
    assert after == '": in the report on screen"'
    page.close()


def test_without_scripting_the_tables_have_the_numbers(visit):
    page = visit("sample", ready=False, java_script_enabled=False).page

    assert page.locator("#table-flows-1").is_visible()
    assert page.locator("#table-moves tbody tr").count() == 6
    assert page.locator("th button").count() == 0
    assert page.get_by_text("This chart needs JavaScript").count() == 5


@pytest.mark.parametrize(
    ("name", "width"), [*((name, 1280) for name in NAMES), ("sample", 390), ("long", 390)]
)
def test_it_is_accessible(visit, name, width):
    from axe_playwright_python.sync_playwright import Axe

    # the checker is a foreign script, which the policy rightly refuses
    page = visit(name, width=width, bypass_csp=True).page

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()


def test_the_first_printed_page_stands_alone(visit):
    page = visit("sample").page
    # A4 less the margins, at 96 dots an inch
    page.set_viewport_size({"width": 688, "height": 1001})
    page.emulate_media(media="print")
    last = page.evaluate("document.querySelector('.page1').getBoundingClientRect().bottom")
    follows = page.evaluate("getComputedStyle(document.querySelector('.page1')).breakAfter")

    assert 300 < last + page.evaluate("window.scrollY") < 1001
    assert follows == "page"
    assert page.locator(".page1 .facts").is_visible()
    page.emulate_media(media="screen")
    assert not page.locator(".page1 .facts").is_visible()


def test_parts_are_folded_until_they_are_asked_for(visit):
    page = visit("sample", folded=True).page
    parts = page.locator("details[data-fold]")
    assert parts.count() == 5
    assert page.locator("details[data-fold][open]").count() == 0

    page.locator("nav.next a", has_text="How sure").click()
    page.wait_for_selector("details[data-fold][open]")
    assert page.locator("#sure").is_visible()
    assert page.locator("[data-chart=law] svg").is_visible()
    # paper has no folds, and what was folded is folded again
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details[data-fold][open]").count() == 5
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[data-fold][open]").count() == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_a_dark_page_is_dark_and_accessible(visit, width):
    from axe_playwright_python.sync_playwright import Axe

    page = visit("sample", width=width, color_scheme="dark", bypass_csp=True).page
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert colour == "rgb(22, 24, 27)"
    checked = Axe().run(page)
    assert checked.violations_count == 0, checked.generate_report()
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_phone_shows_three_groups_of_people_first(visit):
    one = visit("sample", width=390).page
    rows = one.locator("#table-people tbody tr:visible")

    assert rows.count() == 3
    one.locator("[data-table]:has(#table-people) .more").click()
    assert rows.count() == len(sample().decisions.cases)


def test_a_picture_that_goes_on_sideways_says_so(visit):
    page = visit("sample").page
    hidden = page.evaluate(
        "[...document.querySelectorAll('.chart')].map(one => [one.querySelector('.cue').hidden,"
        " one.querySelector('.canvas').scrollWidth"
        " <= one.querySelector('.canvas').clientWidth + 1])"
    )

    assert hidden
    assert all(cue == fits for cue, fits in hidden)
