"""The report's bytes: the same for the same summary, with nothing of the data trusted."""

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairtransport.documents.audit import AuditSummary, audit_schema
from fairtransport.report import render
from fairtransport.report import text as disclosure
from fairtransport.report.sections import SECTIONS, finding, moves
from tests.report.golden import FOLDER, documents
from tests.report.page_checks import check_headings
from tests.report.samples import hostile, sample, with_budget

ROOT = Path(__file__).parents[2]
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


@pytest.fixture(scope="module")
def page():
    return render(sample(), "html")


@pytest.fixture(scope="module")
def attacked():
    return render(hostile(), "html")


def scripts(page):
    return re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)


def charts(page):
    return re.search(r'<script type="application/json" id="charts">(.*?)</script>', page)[1]


@pytest.fixture(scope="module")
def made():
    return documents()


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_golden_documents(made, name):
    assert made[name] == (FOLDER / name).read_text("utf-8")


def test_there_is_a_golden_file_for_every_document(made):
    assert sorted(made) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(page):
    program = (
        "import sys; from tests.report.samples import sample;"
        "from fairtransport.report import render;"
        "sys.stdout.buffer.write(render(sample(), 'html').encode())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, env=environment, cwd=ROOT
    )

    assert run.stdout == page.encode()
    assert render(sample(), "html") == page


def test_it_is_about_a_megabyte(page):
    assert len(page.encode()) < 1.2e6


def test_the_policy_allows_what_is_in_the_file_and_nothing_else(page):
    policy = html.unescape(re.search(r'Security-Policy" content="([^"]*)"', page)[1])
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    style = re.search(r"<style>(.*?)</style>", page, flags=re.DOTALL)[1]

    def source(text):
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    assert len(scripts(page)) == 2
    assert rules == {
        "default-src": "'none'",
        "script-src": " ".join(map(source, scripts(page))),
        "style-src": source(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(
        r"<[^>]+ (style|on\w+)=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    )


def test_the_verdict_comes_first_and_headings_are_in_order(page):
    order = [section.key for section in SECTIONS[AuditSummary]]
    # these are of given predictions, of counterparts and of proxies
    order = [name for name in order if name not in {"rates", "counterparts", "proxies"}]
    assert order[:4] == ["verdict", "people", "group-rates", "warnings"]
    assert order[-1] == "glossary"
    places = [page.index(f'<h2 id="{name}"') for name in order]
    assert places == sorted(places)
    check_headings(page)


def test_charts_are_embedded_as_json_that_cannot_leave_its_element(attacked):
    text = charts(attacked)

    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert "flows-1" in json.loads(text)
    assert len(re.findall(r"</script", attacked)) == 3


def test_hidden_characters_are_spelled_out_everywhere(attacked):
    whole = attacked + json.dumps(json.loads(charts(attacked)), ensure_ascii=False)

    assert not set(whole) & set(BIDI)
    assert not set(whole) & set("\x00\x07\x1b\ud800")
    assert "⟨U+202E⟩" in attacked
    assert attacked.encode("utf-8")


def test_no_tag_of_the_data_survives(attacked):
    body = re.sub(r"<script.*?</script>", "", attacked, flags=re.DOTALL)

    for tag in ("<img", "<b>", "<!--", "<script>window"):
        assert tag not in body
    assert "{{7*7}}" in body


UNDRAWN = {"flows": (), "law": None, "methods": (), "budget_curve": ()}


def test_the_title_is_data_too():
    page = render(sample(**UNDRAWN), "html", title='<b>"\u202e')

    assert "<title>&lt;b&gt;&#34;⟨U+202E⟩</title>" in page


def test_moves_that_are_not_listed_are_counted():
    one = sample().moves[0]
    page = render(sample(moves=(one,) * 30, moves_found=1042, **UNDRAWN), "html")

    assert "30 of 1,042 swaps are shown, those that add most to the statistic" in page


def test_title_data_auditor_and_date_stand_at_the_head():
    made = replace(
        sample().provenance, title="Loans <b>", date="2026-03-31", data_name="first quarter",
        auditor="A. Nybody",
    )  # fmt: skip
    page = render(sample(provenance=made, **UNDRAWN), "html")

    assert "<h1>Loans &lt;b&gt;</h1>" in page
    assert "Data: first quarter · Auditor: A. Nybody · Date: 2026-03-31" in page
    assert '<p class="about">Model: LogisticRegression(C=1.0)</p>' in render(
        sample(**UNDRAWN), "html"
    )


def test_flows_without_a_change_that_need_not_be_chance_are_not_drawn():
    from fairtransport.report.charts.specs import chart_specs

    first, *others = sample().flows
    doubtful = replace(
        first, cells=tuple(replace(cell, lower=-9.0, upper=9.0) for cell in first.cells)
    )
    quiet = sample(flows=(doubtful, *others))

    assert "flows-1" not in chart_specs(quiet)
    assert "flows-2" in chart_specs(quiet)
    page = render(quiet, "html")
    assert f"No established change by {first.feature}</summary>" in page
    assert 'id="table-flows-1"' in page


def test_of_many_columns_the_rest_is_folded():
    wide = {f"column{at}": at for at in range(20)} | {"sex": "f"}
    move = replace(
        sample().moves[0], from_profile=wide, to_profile=wide | {"sex": "m"}, changed=("sex",)
    )
    page = render(sample(moves=(move,), **UNDRAWN), "html")

    assert "<summary>14 more columns</summary>" in page
    assert "column19" in page


def test_an_audit_that_found_nothing_has_a_report():
    empty = replace(
        sample(), statistic=0.0, worst_case_risk=0.334, moved=0.0, moves=(), flows=(), methods=(),
        groups=(), group_metrics=(), law=None, warnings=(), delta=None,
        pvalue=None, verdict=None, plan_is_unique=True, budget_curve=(),
    )  # fmt: skip
    page = render(empty, "html")

    assert finding.verdict_title(empty) in page
    assert moves.moved_sentence(empty) in page
    # without charts there is no need for a library that draws them
    assert len(page) < 60_000


def test_a_shared_report_says_what_it_leaves_out():
    shared = replace(with_budget(), **UNDRAWN)
    page = render(shared, "html")

    assert disclosure.suppression_sentence(shared)[:200] in page
    assert "left out</bdi>" in page
    assert page.count(f"<strong>{disclosure.hidden_moves_sentence(shared)}</strong>") == 1


def test_a_shared_report_without_a_move_shows_no_flows():
    shared = replace(with_budget(), moves=(), law=None, methods=())
    page = render(shared, "html")

    assert f"{disclosure.hidden_moves_sentence(shared)}</strong> No swap is of enough" in page
    assert "By column" not in page


def test_words_between_backticks_are_code_and_nothing_else_is(page):
    assert "(<code>levels</code>)." in page
    sly = render(sample(warnings=("`<b>` and `<i", "`&lt;`"), **UNDRAWN), "html")
    assert "<code>&lt;b&gt;</code> and `&lt;i" in sly
    assert "<code>&amp;lt;</code>" in sly


def test_much_disagreement_is_in_the_first_panel():
    much = replace(with_budget(), disagreement=0.03, **UNDRAWN)
    page = render(much, "html")
    said = finding.disagreement_sentence(much).replace(" %", "\u00a0%")

    assert page.count(said) == 1
    assert page.index(said) < page.index("FaiTH statistic</dt>")


def test_a_fragment_has_no_script_and_escapes_the_data():
    text = render(hostile(), "notebook")

    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert not set(text) & set(BIDI)
    assert "The people whose decision would change" in render(sample(), "notebook")


@pytest.mark.slow
def test_a_real_audit_has_a_valid_document_and_a_report():
    import jsonschema

    from fairtransport import audit
    from fairtransport.datasets.compas import (
        DELTA,
        LABEL,
        LEVELS,
        SENSITIVE,
        logistic_regression,
        split_compas,
    )

    split = split_compas(0)
    result = audit(
        split.audit.drop(columns="high_risk"), LABEL, model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE), levels=LEVELS, delta=DELTA, rng=0,
    )  # fmt: skip
    page = render(result.summary, "html")

    jsonschema.validate(json.loads(result.summary.to_json()), audit_schema())
    assert f"{result.statistic:.4f}" in page
    assert f"{result.summary.moved:.0f} of {result.n:,} people" in page
    assert page == render(result.summary, "html")
