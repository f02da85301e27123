"""[[audits]] in a settings file: a family of audits from one command."""

import json
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from tests.cli.conftest import fitted

import fairtransport as ft

FAMILY = """
[audit]
data = "people.csv"
label = "good"
model = "model.skops"
sensitive = ["race"]
levels.race = ["a", "b"]
delta = 0.001
seed = 3

[monitor]
label = "good"

[[audits]]
name = "everybody"

[[audits]]
name = "the young"
where.age = [20, 21]
delta = 0.6

[[audits]]
name = "given"
prediction = "guess"
levels = {}
features = ["race", "age"]
"""


@pytest.fixture
def config(tmp_path):
    def write(text=FAMILY):
        path = tmp_path / "family.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def expected(folder):
    model = ft.access.load(folder / "model.skops")
    common = {"sensitive_features": ["race"], "delta": 0.001, "rng": 3}
    levels = {"levels": {"race": ["a", "b"]}}
    return ft.audit_many(
        folder / "people.csv", "good", model=model, **common,
        audits={
            "everybody": levels,
            "the young": {"where": {"age": [20, 21]}, "delta": 0.6, **levels},
            "given": {"y_pred": "guess", "features": ["race", "age"]},
        },
    )  # fmt: skip


def test_a_family_is_one_table_one_report_and_one_document(run, config, expected, tmp_path):
    done = run("audit", "--config", config(), "--json", tmp_path / "f.json", "--report",
               tmp_path / "f.html")  # fmt: skip
    document = json.loads((tmp_path / "f.json").read_text("utf-8"))

    assert done.code == 3
    assert expected.verdicts == {
        "everybody": "rejected", "the young": "certified", "given": "inconclusive",
    }  # fmt: skip
    assert "people.csv, 3 audits" in done.words
    assert "Over the limit in 1 of 3 audits; 1 not settled." in done.words
    for one in expected.members:
        assert one.name in done.words
        assert f"{one.statistic:.4f}" in done.words
    assert "Wrote" in done.out
    sets = "sets data, label, model, sensitive, levels, delta, seed, audits."
    assert " ".join(done.err.split()) == f"Note: 'family.toml' {sets}"
    found = [{**one, "model": ""} for one in document["members"]]
    wanted = json.loads(expected.summary.to_json())
    assert found == [{**one, "model": ""} for one in wanted["members"]]
    taken = document["audits"][1]["provenance"]["settings_taken"]
    assert taken[-1] == "audits"
    assert "delta" in taken
    assert "<h3>the young: ✓" in (tmp_path / "f.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("fail_on", "failed"),
    [
        ("rejected", ["everybody"]),
        ("not-certified", ["everybody", "given"]),
        ("never", []),
    ],
)
def test_each_audit_is_a_test_of_its_own(run, config, expected, tmp_path, fail_on, failed):
    run("audit", "--config", config(), "--junit", tmp_path / "f.xml", "--fail-on", fail_on)
    suites = ET.parse(tmp_path / "f.xml").getroot()

    cases = {suite.find("testcase").get("name"): suite for suite in suites}
    assert list(cases) == list(expected)
    assert [name for name, one in cases.items() if one.find("testcase/failure") is not None] == (
        failed
    )
    for name, suite in cases.items():
        values = {one.get("name"): one.get("value") for one in suite.find("properties")}
        assert values["fairtransport.verdict"] == expected.verdicts[name]
        assert values["fairtransport.n"] == str(expected[name].n)
        assert float(suite.get("time")) > 0


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ([], 3),
        (["--fail-on", "never"], 0),
        (["--fail-on", "not-certified"], 3),
        (["--delta", "0.6", "--fail-on", "not-certified"], 4),
        (["--delta", "0.6"], 0),
    ],
)
def test_exit_codes_are_those_of_the_worst_verdict(flags, code, run, config):
    done = run("audit", "--config", config(), "--quiet", *flags)

    assert (done.code, done.out) == (code, "")
    assert bool(done.err) == (code != 0)


def test_quiet_says_which_audits_failed_and_why(run, config, expected):
    one = expected.members[0]
    done = run("audit", "--config", config(), "--quiet")

    assert " ".join(done.err.split()) == (
        f"Note: everybody: Over the limit: statistic {one.statistic:.4f}, lower bound "
        f"{one.lower:.4f}, upper bound {one.upper:.4f}; δ = 0.001, with 95 % confidence for all 3 "
        "audits together."
    )


NO_LIMIT = FAMILY.replace("delta = 0.001\n", "").replace("delta = 0.6\n", "")


def test_several_audits_without_a_limit_fail_nothing(run, config):
    done = run("audit", "--config", config(NO_LIMIT))

    assert done.code == 0
    assert "No limit set." in done.words


def test_without_a_seed_the_drawn_one_is_printed_and_recorded(run, config, tmp_path):
    path = tmp_path / "f.xml"
    done = run("audit", "--config", config(FAMILY.replace("seed = 3", "")), "--junit", path)
    (seed,) = {
        one.get("value")
        for one in ET.parse(path).getroot().iter("property")
        if one.get("name") == "fairtransport.seed"
    }

    assert f"Seed {seed}." in done.words


def test_seeds_of_their_own_are_told_apart(run, config):
    done = run("audit", "--config", config(f"{FAMILY}seed = 4\n"))

    assert "Seed 3 (everybody), 3 (the young), 4 (given)." in done.words


def test_an_audit_that_cannot_tell_gives_its_reason_as_a_test(run, config, folder, tmp_path):
    import skops.io as skops

    skops.dump(fitted(pd.read_csv(folder / "people.csv"), ["age"]), tmp_path / "blind.skops")
    blind = f'name = "blind"\nmodel = "{tmp_path}/blind.skops"\n'
    text = FAMILY.replace('name = "the young"\nwhere.age = [20, 21]\n', blind)
    path = tmp_path / "f.xml"
    done = run("audit", "--config", config(text), "--junit", path, "--quiet")
    suites = {one.find("testcase").get("name"): one for one in ET.parse(path).getroot()}
    names = {
        name: {one.get("name").removeprefix("fairtransport.") for one in suite.iter("property")}
        for name, suite in suites.items()
    }

    assert done.code == 3
    assert {"seed", "sensitive_features", "changed", "pvalue_adjusted"} <= names["everybody"]
    failure = suites["blind"].find("testcase/failure")
    assert failure.get("type") == "not-applicable"
    assert failure.get("message").startswith("This audit cannot tell: ")
    assert "statistic 0.0000, lower bound" not in failure.get("message")
    assert "blind: This audit cannot tell: " in " ".join(done.err.split())


def test_a_forgotten_delta_is_said_of_the_audits_it_lacks_in(run, config, tmp_path):
    text = FAMILY.replace("delta = 0.001\n", "")
    done = run("audit", "--config", config(text), "--fail-on", "rejected", "--quiet")

    assert done.out == ""
    said = "There is no delta in everybody, given, so these cannot end with an error code."
    assert done.err == f"Note: {said}\n"
    assert run("audit", "--config", config(text), "--quiet").err == ""
    junit = run("audit", "--config", config(text), "--quiet", "--junit", tmp_path / "f.xml")
    assert junit.err == done.err


def test_flags_override_every_table(run, config):
    done = run("audit", "--config", config(), "--delta", "0.5", "--seed", "8", "--json", "-")
    document = json.loads(done.out)

    assert [one["delta"] for one in document["members"]] == [0.5] * 3
    assert {one["provenance"]["seed"] for one in document["audits"]} == {8}
    assert document["alpha"] == 0.05


def test_a_model_file_is_read_once_and_asked_once(run, config, monkeypatch):
    import fairtransport.access

    read = []
    load = fairtransport.access.load
    monkeypatch.setattr(
        fairtransport.access, "load", lambda *a, **k: (read.append(a), load(*a, **k))[1]
    )
    done = run("audit", "--config", config(), "--json", "-")

    assert len(read) == 1
    assert json.loads(done.out)["queried"] == 20


def test_one_seed_is_drawn_for_all(run, config):
    done = run("audit", "--config", config(FAMILY.replace("seed = 3", "")), "--json", "-")

    assert len({one["provenance"]["seed"] for one in json.loads(done.out)["audits"]}) == 1


def test_other_commands_read_their_own_table(run, config):
    done = run("sample-size", "--value", "0.2", "--delta", "0.1", "--config", config())

    assert done.code == 0


def test_a_family_needs_a_named_file(run, tmp_path, monkeypatch):
    (tmp_path / "fairtransport.toml").write_text(FAMILY)
    monkeypatch.setattr("fairtransport.cli.config_file.USUAL", tmp_path / "fairtransport.toml")
    done = run("audit", "--delta", "0.5")

    assert (done.code, done.out) == (2, "")
    assert "'fairtransport.toml' must be named to set audits, as it was only found" in done.err


WRONG = [
    ("[[audits]]\nname = 'x'\n", "`audits` must map at least 2 names"),
    ("[[audits]]\n[[audits]]\n", "each table [[audits]] in 'family.toml' must have a `name`"),
    ("[[audits]]\nname = 'x'\n" * 2, "each table [[audits]] in 'family.toml' must have a `name`"),
    ("audits = 3\n", "each table [[audits]] in 'family.toml' must have a `name` of its own, got 3"),
    ("[audits]\nname = 'x'\n", "each table [[audits]] in 'family.toml' must have"),
    ("alpha = 0.1", "an audit in a table [[audits]] got an unexpected parameter 'alpha'"),
    ("report = 'x.html'", "[[audits]] got an unexpected parameter 'report'"),
    ("data = 'cases.csv'", "[[audits]] got an unexpected parameter 'data'"),
    ("delta = -1", "audit 'y': `--delta` must be a fraction from 0 to below 1"),
    ("budget = 'lots'", "`budget` in 'family.toml' must be a number, got 'lots'"),
    ("where.age = 99", "audit 'y': `where['age']` must be values of that column"),
    ("where.town = 99", "audit 'y': `where` must name columns of the data"),
    ("model = 'absent.skops'", "audit 'y': there is no model file 'absent.skops' for `--model`"),
    ("model = 'absent.skops'\nlabel = 'bad'", "audit 'y': `--label` must name columns of the data"),
    ("model = 'absent.skops'\nwhere.town = 9", "audit 'y': `where` must name columns of the data"),
    ("positive = 'no'", "audit 'y': `--positive` must be one of the labels"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[one[1] for one in WRONG])
def test_what_is_wrong_is_one_sentence(text, message, run, config):
    base = FAMILY[: FAMILY.index("[[audits]]")]
    if text.startswith("audits"):
        whole = text + base
    elif text.startswith("["):
        whole = base + text
    else:
        whole = f"{base}[[audits]]\nname = 'x'\n[[audits]]\nname = 'y'\n{text}\n"
    if "positive" in text:
        whole = whole.replace("delta = 0.001", "delta = 0.001\nloss = 'brier'")
    done = run("audit", "--config", config(whole))

    assert (done.code, done.out) == (2, "")
    assert done.err.count("Error: ") == 1
    assert message in done.err.replace("Error: ", "")


def test_a_table_may_hold_what_the_command_asks_and_no_outputs():
    from fairtransport.cli.audit_command import entry_keys
    from fairtransport.cli.entry_point import app

    arguments = app["audit"].assemble_argument_collection()
    flags = {one.name.lstrip("-") for one in arguments if one.name.startswith("--")}

    assert set(entry_keys()) - {"name", "where"} <= flags
    assert flags - set(entry_keys()) == {
        "data", "counts", "clusters", "controls", "sample-weight", "alpha", "judge", "fail-on",
        "report", "json", "moves", "share", "share-at-least", "quiet", "config", "debug", "title",
        "date", "data-name", "auditor",
        "until-sure", "query-limit", "draws", "about", "unit", "price-per-1000", "junit",
        "proxies", "privileged", "max-moves", "min-share", "verbose",
    }  # fmt: skip


def test_several_audits_are_not_shared(run, config, tmp_path):
    done = run("audit", "--config", config(), "--share", "--json", tmp_path / "f.json")

    assert (done.code, done.out) == (2, "")
    assert "`--share` must not be given for several audits" in done.err
    assert not (tmp_path / "f.json").exists()


def test_several_audits_have_no_statistics_of_one(run, config):
    done = run("audit", "--config", config(), "--verbose")

    assert (done.code, done.out) == (2, "")
    assert "`--verbose` must not be given for several audits; --report has each" in done.err


def test_several_audits_have_no_head_of_one(run, config):
    done = run("audit", "--config", config(), "--title", "Loans")

    assert (done.code, done.out) == (2, "")
    assert "`--title` must not be given for several audits, got 'Loans'" in done.err


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--draws", "2"), ("--until-sure", None)],
)
def test_several_audits_ask_once_about_everybody(flag, value, run, config):
    done = run("audit", "--config", config(), *[word for word in (flag, value) if word])

    assert (done.code, done.out) == (2, "")
    assert f"`{flag}` is for `audit` alone: a family queries each model once about" in done.err


def test_several_audits_have_one_price(run, config):
    done = run("audit", "--config", config(), "--price-per-1000", "-3")

    assert (done.code, done.out) == (2, "")
    assert "`--price-per-1000` must be a number of at least 0" in done.err


def test_several_audits_are_judged_by_the_statistic(run, config):
    done = run("audit", "--config", config(), "--judge", "attributable")

    assert (done.code, done.out) == (2, "")
    assert "`--judge` must be 'statistic' for several audits, got 'attributable'" in done.err
