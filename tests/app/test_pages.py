"""The pages as a browser without scripting gets them."""

import json

import pytest

import fairtransport as ft
from tests.app.conftest import LOANS


def test_a_file_is_read_where_it_lies(app, loans):
    page = app.get(app.table(loans)).text

    assert "600 rows, 5 columns. Read where it lies: " in page
    for name in ("sex", "income", "repaid", "granted"):
        assert f"What the column {name} is" in page


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "must be a file of type .csv, .tsv, .parquet"),
        ("/nowhere/people.csv", "must be an existing file, got &#39;/nowhere/people.csv&#39;"),
        ("people.xlsx", "must be a file of type"),
        ("~nobody-here/x.csv", "must be an existing file"),
        ("a\0b.csv", "<code>X</code>"),
    ],
)
def test_a_path_that_is_none_is_said_beside_the_field(app, path, sentence):
    refused = app.post("/tables", {"way": "path", "path": path})

    assert refused.status == 422
    assert sentence in refused.text
    assert 'id="error-path"' in refused.text


def test_what_is_not_a_table_is_refused_under_its_own_name(app):
    refused = app.post("/tables", {"way": "file"}, [("file", "people.parquet", b"no such thing")])

    assert refused.status == 422
    assert "the file &#39;people.parquet&#39; could not be read" in refused.text
    assert str(app.folder) not in refused.text
    assert list(app.folder.glob("*/*.parquet")) == []


def test_an_upload_is_audited_from_its_copy(app, loans):
    files = [("file", "my loans.csv", loans.read_bytes())]
    table = app.post("/tables", {"way": "file"}, files).headers["location"]
    page = app.get(table).text

    assert "my loans.csv" in page
    assert "A copy, removed when the app ends." in page
    assert app.get(f"{table}/files/data").body == loans.read_bytes()


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"delta": "2"}, "delta", "<code>delta</code> must be below 1"),
        ({"delta": "much"}, "delta", "<code>delta</code> must be a number, got &#39;much&#39;"),
        ({"alpha": "0.7"}, "alpha", "<code>alpha</code> must be a"),
        ({"rng": "1.5"}, "rng", "<code>rng</code> must be a whole number"),
        ({"date": "soon"}, "date", "<code>date</code> must be a date such as 2026-03-31"),
        ({"role.0": "case"}, "columns", "<code>sensitive_features</code> must name at least one"),
        ({"role.2": "case"}, "columns", "<code>y</code> must be given for the loss"),
        ({"role.3": "case"}, "answers", "exactly one of"),
        ({"role.1": "label"}, "columns", "one column can be the true label"),
        ({"bins.1": "3, x"}, "bins", "must be numbers separated by commas"),
        ({"answers": "model"}, "model_path", "<code>model</code> must be a model file"),
        ({"similarity": "mixed-tabular", "scale.1": "-1"}, "similarity", "must be a finite number"),
        ({"similarity": "magic"}, "similarity", "<code>similarity</code> must be one of"),
        ({"compares": "on"}, "compares", "choose the column of the second model"),
        ({"loss": "squared", "loss_range": "0"}, "loss_range", "<code>loss_range</code> must"),
        ({"loss_range": "a, b"}, "loss_range", "must be numbers separated by commas"),
        ({"favourable": "1"}, "favourable", "must be given together"),
        ({"budget": "-1"}, "budget", "<code>budget</code> must be a finite number &gt;= 0"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_said_beside_it_and_nothing_typed_is_lost(
    app, loans, typed, field, sentence
):
    wanted = LOANS | {"title": 'The "title" <b>', "auditor": "Ann", "bins.1": "4"} | typed

    refused = app.post(f"{app.table(loans)}/audits", wanted)

    assert refused.status == 422
    place = refused.text.split(f'id="error-{field}"')
    assert len(place) == 2, refused.text[refused.text.find("summary-of-errors") :][:600]
    assert sentence in place[1].split("</p>")[0]
    assert 'value="The &#34;title&#34; &lt;b&gt;"' in refused.text
    assert 'value="Ann"' in refused.text
    assert f'value="{wanted["delta"]}"' in refused.text
    assert f'<option value="{wanted["role.0"]}" selected>' in refused.text


def test_a_model_file_that_was_handed_over_is_kept_when_another_field_is_wrong(app, loans):
    table = app.table(loans)
    typed = LOANS | {"answers": "model", "delta": "x"}

    refused = app.post(f"{table}/audits", typed, [("model", "my model.skops", b"a model")])

    assert "Kept: <strong><bdi>my model.skops</bdi></strong>" in refused.text
    assert 'name="kept_model"' in refused.text


def test_an_audit_says_what_the_library_says(app, audited, loans):
    document = app.get(f"{audited}/files/audit.json").json
    result = ft.audit(
        loans, "repaid", y_pred="granted", sensitive_features=["sex"], delta=0.03, rng=1,
        features=["sex", "income"],
    )  # fmt: skip

    assert document == json.loads(result.summary.to_json())
    assert app.get(f"{audited}/files/report.html").headers["content-disposition"] == (
        'attachment; filename="report.html"'
    )
    moves = app.get(f"{audited}/files/moves.csv").text
    assert moves.splitlines()[0].startswith("from_sex,from_income,to_sex")
    assert len(moves.splitlines()) == 1 + len(result.moves)
    assert app.get(f"{audited}/files/report.md").text == result.to_markdown()


@pytest.mark.slow
def test_a_failed_audit_says_why_and_leads_back_to_what_was_typed(app, loans, tmp_path):
    broken = tmp_path / "broken.skops"
    broken.write_bytes(b"no model")
    typed = LOANS | {"answers": "model", "model_path": str(broken), "title": "Kept"}
    audit = app.post(f"{app.table(loans)}/audits", typed).headers["location"]
    app.wait(audit, "failed")

    page = app.get(audit).text
    back = page.split('class="button" href="')[1].split('"')[0]

    assert "&#39;broken.skops&#39; could not be read as a model" in page
    assert 'value="Kept"' in app.get(back).text


def test_what_is_not_there_is_a_page_that_leads_on(app):
    for path in ("/audits/none", "/tables/none", "/nowhere", "/audits/none/report"):
        absent = app.get(path)
        assert absent.status == 404
        assert "To the first page" in absent.text


@pytest.mark.slow
def test_audits_are_listed_and_can_be_removed(own_app, loans):
    audit = own_app.post(f"{own_app.table(loans)}/audits", LOANS).headers["location"]
    own_app.wait(audit)
    assert audit in own_app.get("/").text

    assert own_app.post(f"{audit}/remove").headers["location"] == "/"
    assert audit not in own_app.get("/").text
    assert own_app.get(audit).status == 404


def test_words_that_are_typed_are_told_in_people(app, loans):
    table = app.table(loans)

    told = app.get(f"{table}/means?delta=0.02&similarity=mixed-tabular&scale.1=2&budget=0.25").json

    assert told["delta"].endswith("Of the 600 cases here that is 12.")
    assert told["budget"] == "On average, people may be moved by the equivalent of 1 of income."
    assert app.get(f"{table}/means?delta=nan&budget=x").json == {"delta": "", "budget": ""}
