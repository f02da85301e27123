"""fairtransport combine: earlier audits, put together."""

import json
import math

import jsonschema
import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audit.combining import combine
from fairtransport.audit.earlier import read_earlier
from fairtransport.inference.multiplicity import Family, calibrated
from fairtransport.report import family_schema


def audited(seed, bias=0.2, **asked):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"race": rng.choice(["a", "b"], 150), "age": rng.integers(20, 60, 150)})
    frame["good"] = np.r_[np.ones(149, int), 0]

    def model(points):
        return ((points["race"] == "a") | (points["age"] >= 20 + 40 * bias)).astype(int)

    settings = {
        "sensitive_features": "race", "levels": {"race": ["a", "b"]}, "delta": 0.03, "rng": 0,
    } | asked  # fmt: skip
    return ft.audit(frame, "good", model=model, features=["race", "age"], **settings)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Three samples of one population, and documents that differ from these in one thing."""
    made = tmp_path_factory.mktemp("documents")
    for at in range(3):
        audited(at).to_json(made / f"part{at}.json")
    audited(0).to_json(made / "again.json")
    audited(4).to_json(made / "shared.json", share=5)
    audited(5, delta=0.2).to_json(made / "delta.json")
    audited(5, method="limit-law").to_json(made / "limit.json")
    audited(5, delta=None).to_json(made / "open.json")
    audited(6, bias=0.0, delta=0.3, alpha=0.01).to_json(made / "sure.json")
    ft.audit_many(
        pd.DataFrame({"g": ["a", "b"], "y": [1, 1], "p": [1, 0], "q": [1, 1]}), "y",
        sensitive_features="g", rng=0, audits={"p": {"y_pred": "p"}, "q": {"y_pred": "q"}},
    ).to_json(made / "family.json")  # fmt: skip
    texts = {"empty.json": "{}", "list.json": "[]", "no.json": "{", "deep.json": "[" * 100_000,
             "newer.json": '{"schema": "fairtransport-audit/9"}',
             "half.json": '{"schema": "fairtransport-audit/1"}'}  # fmt: skip
    for name, text in texts.items():
        (made / name).write_text(text)
    whole = json.loads((made / "part0.json").read_text("utf-8"))
    (made / "pvalue.json").write_text(json.dumps(whole | {"pvalue": 3}))
    (made / "words.json").write_text(json.dumps(whole | {"statistic": "large"}))
    return made


def read(documents, *names):
    return [read_earlier(documents / f"{name}.json", name) for name in names]


def test_pvalues_are_adjusted_over_the_documents(documents):
    earlier = read(documents, "part0", "part1", "part2", "sure")
    found = combine(earlier)
    family = Family(0.05, 4, 4, 4)
    wanted = family.adjusted([one.pvalue for one in earlier])

    assert [one.pvalue_adjusted for one in found.members] == wanted.tolist()
    assert [one.lower for one in found.members] == [one.lower for one in earlier]
    assert found.intervals_miss == pytest.approx(0.16)
    assert found.multiplied is None
    assert found.members[-1].verdict == "certified"
    assert earlier[-1].certificate_pvalue <= family.end_level


def test_evidence_of_independent_samples_is_multiplied(documents):
    earlier = read(documents, "part0", "part1", "part2")
    found = combine(earlier, independent=True)
    product = math.prod(one.evalue for one in earlier)

    assert found.multiplied.evalue == pytest.approx(product)
    assert found.multiplied.pvalue == pytest.approx(min(1, 1 / product))
    assert found.multiplied.rejected == (product >= 20)
    assert found.multiplied.rejected
    assert "in every population that these samples were drawn from" in found.multiplied.hypothesis
    jsonschema.Draft202012Validator(family_schema()).validate(json.loads(found.to_json()))


def test_a_shared_document_has_its_pvalue_alone(documents):
    part, shared = read(documents, "part0", "shared")
    found = combine([part, shared], independent=True)

    assert (shared.evalue, shared.certificate_pvalue, shared.fingerprint) == (None, None, None)
    assert found.members[1].evalue == calibrated(shared.pvalue)
    assert found.warnings[0].startswith("shared: ")
    assert any("taken on your word" in note for note in found.warnings)
    assert any("from the p-value" in note for note in found.warnings)


def test_the_command_prints_a_table_and_writes_documents(documents, run, tmp_path):
    files = [documents / f"part{at}.json" for at in range(3)]
    done = run("combine", *files, "--independent", "--json", tmp_path / "c.json", "--report",
               tmp_path / "c.md")  # fmt: skip
    document = json.loads((tmp_path / "c.json").read_text("utf-8"))

    assert done.code == 3
    assert "3 earlier audits" in done.words
    assert "samples that you say are independent" in done.words
    assert "the hypothesis is rejected" in done.words
    for at in range(3):
        assert f"part{at}" in done.words
    assert document["queried"] is None
    assert document["audits"] == []
    assert "| part1 |" in (tmp_path / "c.md").read_text("utf-8")
    assert run("combine", *files, "--json", "-", "--fail-on", "never").code == 0


@pytest.mark.parametrize(
    ("names", "flags", "code"),
    [
        ("part0 part1", [], 3),
        ("part0 part1", ["--fail-on", "never"], 0),
        ("sure open", [], 0),
        ("sure open", ["--fail-on", "not-certified"], 4),
        ("sure delta", ["--alpha", "0.0000001", "--fail-on", "not-certified"], 4),
    ],
)
def test_exit_codes(names, flags, code, documents, run):
    files = [documents / f"{name}.json" for name in names.split()]

    assert run("combine", *files, "--quiet", *flags) == (code, "", "")


NO_AUDIT = "must be the JSON document of an audit"
ONE_QUESTION = "`--independent` multiplies evidence about one question, but"
WRONG = [
    ("part0", "", "`FILES` must be at least 2 documents, got 1"),
    ("", "", "`FILES` must be at least 2 documents, got 0"),
    ("part0 absent", "", "`FILES` must be existing files, got '"),
    ("part0 part0", "", "`FILES` must be different files, got '"),
    ("part0 empty", "", f"'empty.json' {NO_AUDIT} (fairtransport-audit/1)"),
    ("part0 list", "", f"'list.json' {NO_AUDIT} (fairtransport-audit/1)"),
    ("part0 no", "", f"'no.json' {NO_AUDIT}: Expecting"),
    ("part0 deep", "", f"'deep.json' {NO_AUDIT}: "),
    (
        "part0 newer",
        "",
        f"'newer.json' {NO_AUDIT} (fairtransport-audit/1), got 'fairtransport-audit/9'",
    ),
    ("part0 half", "", f"'half.json' {NO_AUDIT}: it lacks 'provenance'"),
    ("part0 family", "", "'family.json' must be the document of one audit, got one of several"),
    ("part0 pvalue", "", f"'pvalue.json' {NO_AUDIT}: `pvalue` must be at most 1, got 3"),
    ("part0 words", "", f"'words.json' {NO_AUDIT}: `statistic` must be a finite number"),
    (
        "part0 again",
        "--independent",
        "`--independent` must not be said of 'part0' and 'again': they are audits of the same data",
    ),
    (
        "part0 delta",
        "--independent",
        f"{ONE_QUESTION} 'part0' and 'delta' differ in delta: 0.03 and 0.2",
    ),
    (
        "part0 open",
        "--independent",
        f"{ONE_QUESTION} 'part0' and 'open' differ in delta: 0.03 and None",
    ),
    ("part0 limit", "--independent", "`--independent` needs audits whose guarantee holds at every"),
    ("part0 part1", "--alpha=0.7", "`--alpha` must be a finite number > 0 and < 0.5, got 0.7"),
]


@pytest.mark.parametrize(("names", "flags", "message"), WRONG, ids=[one[2] for one in WRONG])
def test_what_is_wrong_is_one_sentence(names, flags, message, documents, run):
    files = [documents / f"{name}.json" for name in names.split()]
    done = run("combine", *files, *flags.split())

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {message}")
    assert done.err.count("\n") == 1


def test_a_document_is_not_replaced_by_the_report(documents, run):
    files = [documents / "part0.json", documents / "part1.json"]
    done = run("combine", *files, "--json", files[0])

    assert done.code == 2
    assert "`--json` must not be another file of this command" in done.err


def test_the_same_shared_document_twice_is_not_two_samples(documents, tmp_path, run):
    path = tmp_path / "copy.json"
    path.write_bytes((documents / "shared.json").read_bytes())
    done = run("combine", documents / "shared.json", path, "--independent")

    assert done.code == 2
    assert "they are audits of the same data" in done.err


def test_an_audit_that_is_not_applicable_is_no_evidence(documents, tmp_path, run):
    found = json.loads((documents / "part0.json").read_text("utf-8"))
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps(found | {"verdict": "not-applicable"}), "utf-8")
    done = run("combine", documents / "part1.json", empty, "--independent")

    assert done.code == 2
    assert "needs audits that could find something, got 'empty'" in done.err
