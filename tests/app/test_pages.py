"""The pages as a browser without scripting gets them."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.app.form import Table, fill, typed_similarity
from fairtransport.app.pages import static_file
from tests.app.conftest import LOANS


def test_a_file_is_read_where_it_lies(app, loans):
    page = app.get(app.table(loans)).text

    assert "600 rows, 5 columns. Read from " in page
    for name in ("sex", "income", "repaid", "granted"):
        assert f"What the column {name} is" in page
    for flag in ("--clusters", "--sample-weight", "--controls"):  # what the form has no place for
        assert f"<code>{flag}</code>" in page


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "choose a file of type .csv, .tsv, .parquet"),
        ("/nowhere/people.csv", "there is no file &#39;/nowhere/people.csv&#39;"),
        ("people.xlsx", "must be a file of type"),
        ("~nobody-here/x.csv", "there is no file"),
        ("a\0b.csv", "The file"),
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
    assert "A copy, deleted when you close the app." in page
    assert app.get(f"{table}/files/data").body == loans.read_bytes()


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"limit": "200"}, "limit", "Your limit must be a number from 0 to below 100, got"),
        ({"limit": "much"}, "limit", "Your limit must be a number from 0 to below 100, got"),
        ({"alpha": "0.7"}, "alpha", "<code>Level α</code> must be a"),
        ({"rng": "1.5"}, "rng", "<code>Seed</code> must be a whole number"),
        ({"date": "soon"}, "date", "<code>Date</code> must be a date such as 2026-03-31"),
        ({"group.0": ""}, "groups", "choose at least one column of groups"),
        ({"good.3": "2"}, "good", "choose the favourable decision"),
        ({"decision": ""}, "decision", "choose the column with the decision"),
        ({"role.1": "label"}, "columns", "only one column can be “true label"),
        ({"bins.1": "3, x"}, "bins", "must be numbers separated by commas"),
        ({"answers": "model"}, "model_path", "<code>The model file</code> is missing"),
        ({"similarity": "mixed-tabular", "scale.1": "-1"}, "similarity", "must be a number of"),
        ({"similarity": "magic"}, "similarity", "<code>Who is similar</code> must be one of"),
        ({"compares": "on"}, "compares", "choose the column with the second model"),
        ({"loss": "squared", "loss_range": "0"}, "loss_range", "<code>Range of what is counted"),
        ({"loss_range": "a, b"}, "loss_range", "must be numbers separated by commas"),
        ({"budget": "-1"}, "budget", "<code>Budget ε</code> must be a number of at least 0"),
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
    assert f'value="{wanted["limit"]}"' in refused.text
    is_checked = refused.text.split('name="group.0"')[1].startswith(" checked")
    assert is_checked == (wanted["group.0"] == "on")


def test_a_model_file_that_was_handed_over_is_kept_when_another_field_is_wrong(app, loans):
    table = app.table(loans)
    typed = LOANS | {"answers": "model", "limit": "x"}

    refused = app.post(f"{table}/audits", typed, [("model", "my model.skops", b"a model")])

    assert "Kept: <strong><bdi>my model.skops</bdi></strong>" in refused.text
    assert 'name="kept_model"' in refused.text


def test_files_of_refused_forms_do_not_pile_up(own_app, loans):
    table = own_app.table(loans)
    typed = LOANS | {"answers": "model", "limit": "no number"}
    for at in range(3):
        page = own_app.post(f"{table}/audits", typed, [("model", "m.onnx", b"x" * at)])
        key = page.text.split('name="kept_model" value="')[1].split('"')[0]
        typed |= {"kept_model": key}
    own_app.post("/tables", {"way": "path", "path": "/none"}, [("file", "a.csv", b"a")])
    own_app.post("/tables", {"way": "file"}, [("file", "a.csv", b"")])

    assert len(list(own_app.folder.glob("*/*.*"))) == 1


def test_pages_are_dark_where_a_reader_prefers_it():
    style, _ = static_file("app.css")

    assert "prefers-color-scheme: dark" in style
    own = style.split("/* The app's pages")[1]
    assert re.findall(r": #[0-9a-f]{3,6}\b", own) == []


def test_an_audit_says_what_the_library_says(app, audited, loans):
    document = app.get(f"{audited}/files/audit.json").json
    result = ft.audit(
        loans, "repaid", y_pred="granted", sensitive_features=["sex"], delta=0.03, rng=1,
        features=["sex", "income"], favourable=1,
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

    assert "&#39;broken.skops&#39; is no skops file, or is damaged" in page
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
    fields = "decision=3&good.3=1&group.0=on&role.4=unused&similarity=mixed-tabular&scale.1=2"

    means = app.get(f"{table}/means?{fields}&limit=2&budget=0.25").json

    assert means["unit"] == (
        "more people in 100 may get “granted = 0” than now, if all groups got it as often as the "
        "one that gets it most often"
    )
    assert means["limit"] == "(12 of these 600)"
    assert means["alike"] == "Columns that describe a person: income, repaid. Not used: later."
    assert means["budget"].startswith(
        "On average, people may differ from those they are compared with by"
    )
    empty = app.get(f"{table}/means?limit=nan&budget=x").json
    assert (empty["limit"], empty["budget"]) == ("", "")


@pytest.fixture
def lending(tmp_path):
    """A file of decisions in words, without outcomes, that are harder on women."""
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"id": range(800), "sex": rng.choice(["f", "m"], 800)})
    people["band"] = rng.choice(list("abc"), 800)
    chance = people["band"].map({"a": 0.9, "b": 0.6, "c": 0.4}) - 0.35 * (people["sex"] == "f")
    people["decision"] = np.where(rng.random(800) < chance, "approved", "declined")
    people.to_csv(tmp_path / "lending.csv", index=False)
    return tmp_path / "lending.csv"


def test_decisions_alone_work_at_once_in_the_words_of_the_file(app, lending):
    guesses = Table(lending, lending.name).guess()
    assert guesses == {
        "answers": "column", "data_name": "lending.csv", "role.0": "unused", "group.1": "on",
        "role.2": "case", "decision": "3", "good.3": "approved",
    }  # fmt: skip
    table = app.table(lending)
    form = app.get(table).text
    audit = app.post(f"{table}/audits", guesses | {"limit": "5", "rng": "1"}).headers["location"]
    app.wait(audit)

    page, person = app.get(audit).text, app.get(f"{audit}/case?row=1").text
    document = app.get(f"{audit}/files/audit.json").json

    assert "more people in 100 may get “declined” than now" in form
    assert "Declined, among people with equal band" in page
    assert "people in 100 may get “declined” than now" in page
    assert "Decision: approved" in page
    assert "interval</" in page
    assert "Over the limit" in page
    for text in (form.split("more-settings")[0], page, person):
        assert "loss" not in text
        assert "mean prediction" not in text
    lead = person.split('<p class="lead">')[1]
    assert lead.startswith(pd.read_csv(lending)["decision"][0].capitalize())
    assert "Equal values, but sex " in person
    assert (document["delta"], document["favourable"]) == (0.05, "approved")
    assert document["rates"]["lower_bound"] > 0.05


def test_an_advised_audit_is_filled_in_and_starts_by_a_button(app, audited, loans):
    table = Table(loans, loans.name)
    advised = {
        "similarity": "mixed-tabular", "budget": 0.05,
        "similarity_settings": {"scales": {"income": 2.25}},
    }  # fmt: skip

    request = fill(table, LOANS | typed_similarity(table, advised), {}).request

    assert request.similarity_settings == advised["similarity_settings"]
    assert (request.similarity, dict(request.values)["budget"]) == ("mixed-tabular", 0.05)
    assert app.post(f"{audited}/follow").status == 404  # it advises nothing


def in_words(page):
    """Return the text of a page."""
    text = html.unescape(re.sub(r"<[^>]+>", " ", page.split("<main")[1]))
    return re.sub(r" ([;,.)])", r"\1", " ".join(text.split()))


@pytest.mark.slow
def test_the_other_columns_of_a_blind_model_are_checked_by_a_button(own_app, tmp_path):
    import skops.io as skops
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["woman", "man"], 1500)})
    people["height"] = rng.normal(168 + 13 * (people["sex"] == "man"), 6).round(1)
    people["good"] = (people["height"] + rng.normal(0, 3, 1500) > 174).astype(int)
    people["grade"] = rng.normal(size=1500).round(2)
    people[["sex", "height", "grade", "good"]].to_csv(tmp_path / "people.csv", index=False)
    columns = ["height", "grade"]
    skops.dump(LogisticRegression().fit(people[columns], people["good"]), tmp_path / "m.skops")
    typed = {
        "group.0": "on", "role.1": "case", "role.2": "case", "role.3": "label", "good.3": "1",
        "answers": "model", "model_path": str(tmp_path / "m.skops"), "limit": "2", "rng": "1",
    }  # fmt: skip
    table = own_app.table(tmp_path / "people.csv")
    audits = [own_app.post(f"{table}/audits", typed).headers["location"]]
    own_app.wait(audits[0])
    for ticked in ({}, {"legitimate.0": "on"}):
        audits.append(own_app.post(f"{audits[0]}/follow", ticked).headers["location"])
        own_app.wait(audits[-1])
    blind, checked, closed = (in_words(own_app.get(audit).text) for audit in audits)

    for page in (blind, closed):
        assert "This audit cannot tell" in page
        assert "That sex plays no part: other columns can stand in for it (proxies)." in page
        assert "certified" not in page
    assert "Which columns may rightly count? height grade Check the other columns" in blind
    assert "among people with equal height" in closed
    assert "Over the limit" in checked
    assert "with approximately 95 % confidence" in checked
    assert "each with" not in checked
    assert "The interval takes the counterparts as they were fitted" in checked
    assert "What sex causes: counterparts are statistical, and nothing is certified." in checked
    assert "columns that stand in" not in checked
    assert re.search(r"worse off \(woman: [0-9]+ of [0-9]+\)", checked)


def test_columns_that_may_rightly_count_are_kept_in_the_form(app, loans):
    table = Table(loans, loans.name)
    at = [column.name for column in table.columns].index("income")
    rules = {"legitimate": ["income"]}
    advised = {"similarity": "counterparts", "similarity_settings": rules}

    typed = LOANS | typed_similarity(table, advised)

    assert typed[f"legitimate.{at}"] == "on"
    assert fill(table, typed, {}).request.similarity_settings == rules
    # nobody ticks a group or the decision: they are no columns of a case
    everything = {f"legitimate.{place}": "on" for place in range(len(table.columns))}
    assert fill(table, typed | everything, {}).request.similarity_settings == rules
    assert fill(table, typed | {f"legitimate.{at}": ""}, {}).request.similarity_settings == {}
    address = app.table(loans)
    started = app.post(f"{address}/audits", typed | {"limit": "-1"})
    tick = started.text.split(f'name="legitimate.{at}"')[1].split(">")[0]
    assert "checked" in tick
