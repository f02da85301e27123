"""The report in a real browser, opened from disk."""

import pytest

from tests.report.samples import HOSTILE, sample

pytestmark = pytest.mark.slow

NAMES = ("sample", "with_budget", "hostile")
CHARTS = {
    "sample": ["flows-1", "flows-2", "flows-3", "law", "methods"],
    "with_budget": ["flows-1", "flows-2", "flows-3", "law", "methods", "curve"],
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
    button = page.locator("#table-metrics th button", has_text="Value")

    for _ in range(2):
        button.click()
        assert column(page, "metrics", 3)[-1] == "not told"


def test_tables_are_filtered_and_counted(visit):
    page = visit().page
    box = page.get_by_label("Show rows with this text: Who is swapped with whom")
    count = page.locator("[data-table]:has(#table-moves) output")
    assert count.inner_text() == "6 of 6 rows"

    box.fill("less THAN 25")
    assert column(page, "moves", 1) == ["24", "11", "7"]
    assert count.inner_text() == "3 of 6 rows"

    box.fill("")
    assert count.inner_text() == "6 of 6 rows"


def test_hovering_over_a_cell_shows_its_people(visit):
    page = visit().page
    cell = page.locator("[data-chart=flows-1] .mark-rect path").nth(1)

    cell.scroll_into_view_if_needed()
    cell.hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()

    words = tip.inner_text()
    for part in ("African-American, Male", "Less than 25", "+42", "32.5 to 51.5"):
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


def test_without_scripting_the_tables_have_the_numbers(visit):
    page = visit("sample", ready=False, java_script_enabled=False).page

    assert page.locator("#table-flows-1").is_visible()
    assert page.locator("#table-moves tbody tr").count() == 6
    assert page.locator("th button").count() == 0
    assert page.get_by_text("This chart needs scripting").count() == 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible(visit, name, width):
    from axe_playwright_python.sync_playwright import Axe

    # the checker is a foreign script, which the policy rightly refuses
    page = visit(name, width=width, bypass_csp=True).page

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
