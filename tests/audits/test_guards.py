"""What an audit does not promise, and says so: through `audit` itself."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft
from fairtransport.data.build import SharedRows

COLUMNS = ["g", "x"]


def people(seed, n=400, *, fine=False):
    """People of few profiles or, if fine, of about as many as there are people."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(5) if fine else rng.integers(0, 4, n)
    frame = pd.DataFrame({"g": rng.choice(["a", "b"], n), "x": x, "y": rng.integers(0, 2, n)})
    if not fine:
        return with_guess(frame)
    wrong = (rng.random(n) < 0.02) | ((frame["x"] < -1) & (frame["g"] == "b"))
    return frame.assign(guess=frame["y"].where(~wrong, 1 - frame["y"]))


def with_guess(frame):
    """One answer for each profile, wrong for some of group b."""
    wrong = (frame["x"] == 0) & (frame["g"] == "b")
    return frame.assign(guess=frame["y"].where(~wrong, 1 - frame["y"]))


GRID = with_guess(pd.DataFrame(product("ab", range(5), [0, 1]), columns=[*COLUMNS, "y"]))
NEAR = ft.similarity.IgnoreSensitive(tolerance={"x": 0.5})


def audited(data, targets, **settings):
    options = dict(y_pred="guess", delta=0.9, rng=0, similarity=NEAR) | settings
    return ft.audit(data, "y", sensitive_features="g", targets=targets, **options)


def concat(*frames):
    return pd.concat(frames, ignore_index=True)


COARSE, FINE = people(0), people(0, fine=True)
AUDIT_DATA = {
    "the frame itself": (COARSE, COARSE),
    "a part of it": (COARSE, COARSE[100:300]),
    "its profiles, once each": (COARSE, COARSE.drop_duplicates()),
    "its rows in another order and library": (
        COARSE, pl.from_pandas(COARSE.sample(frac=1, random_state=0)),
    ),
    "continuous features": (FINE, FINE),
    "twice over": (FINE, concat(FINE, FINE)),
    "with a few strangers": (FINE, concat(FINE, people(1, 50, fine=True))),
    "as many strangers": (FINE, concat(FINE, people(1, 400, fine=True))),
}  # fmt: skip


@pytest.mark.parametrize("name", AUDIT_DATA)
def test_nothing_is_certified_from_targets_that_are_the_audit_data(name):
    data, targets = AUDIT_DATA[name]
    result = audited(data, targets)

    assert (result.verdict, result.upper_bound) == ("inconclusive", np.inf)
    assert result.summary.upper_bound is result.summary.interval.upper is None
    assert not result.fixed_targets
    assert result.target_scope == "reference"
    (said,) = [text for text in result.warnings if "`targets`" in text]
    shared = 400 * (2 if name == "twice over" else 1)
    counted = min(shared, len(targets))
    assert said.startswith(f"{counted} of the {len(targets)} rows of `targets` are equal to")
    assert "nothing can be certified" in said


FIXED = {
    "all profiles that there can be": (COARSE, GRID),
    "a population of few profiles": (COARSE[:150], COARSE),
    "an independent sample of few profiles": (COARSE, people(1)),
    "a small independent sample of few profiles": (people(3, 12), people(1, 30)),
    "an independent sample of distinct people": (FINE, people(1, fine=True)),
    "a population of distinct people": (FINE[:150], FINE),
}


@pytest.mark.parametrize("name", FIXED)
def test_equal_profiles_alone_are_no_reason_to_refuse(name):
    data, targets = FIXED[name]
    result = audited(data, targets, delta=0.999)

    assert result.fixed_targets
    assert result.upper_bound < np.inf
    assert result.n < 20 or result.bounds_verdict == "certified"
    rows = set(data.itertuples(index=False, name=None))
    shared = sum(row in rows for row in targets.itertuples(index=False, name=None))
    said = [text for text in result.warnings if "`targets`" in text]
    if shared:
        assert said == [
            (
                f"{shared} of the {len(targets)} rows of `targets` "
                f"{'is' if shared == 1 else 'are'} equal to a person in the audit data. The upper "
                "bound is valid only if `targets` were chosen without looking at the audit data."
            )
        ]
    else:
        assert said == []


def test_independent_references_are_hardly_ever_refused():
    """Samples of one population, from few profiles to many; only small ones could be a part."""
    rng = np.random.default_rng(5)
    refused = []
    for _ in range(2000):
        shares = rng.dirichlet(np.full(rng.integers(2, 400), rng.choice([0.1, 1.0])))
        n, rows = rng.integers(20, 500, 2)
        one, other = rng.multinomial(n, shares), rng.multinomial(rows, shares)
        if SharedRows.between(other, one).is_from_the_sample:
            refused.append(rows / n)
    assert len(refused) < 0.05 * 2000
    assert max(refused) < 1


def test_a_reference_that_is_the_audit_data_certifies_no_model_either(tmp_path):
    model = ft.access.Function(lambda x: np.ones(len(x), int), classes=[0, 1])
    path = tmp_path / "cases.csv"
    COARSE.drop(columns="guess").to_csv(path, index=False)
    settings = dict(y_pred=None, model=model, features=COLUMNS, levels={"g": ["a", "b"]})

    own = audited(path, path, **settings)
    other = audited(path, GRID.drop(columns="guess").assign(x=lambda f: f["x"] + 0.25), **settings)

    assert (own.bounds_verdict, own.upper_bound) == ("inconclusive", np.inf)
    assert other.bounds_verdict == "certified"
    assert all(row.upper is row.upper_bound is None for row in own.summary.methods)


def test_the_refusal_is_told_on_every_surface(tmp_path, capsys):
    from fairtransport.cli import main

    for name, frame in {"cases.csv": COARSE, "some.csv": COARSE[:50]}.items():
        frame.to_csv(tmp_path / name, index=False)
    report, document = tmp_path / "report.html", tmp_path / "audit.json"
    line = (
        f"audit {tmp_path}/cases.csv --label y --prediction guess --sensitive g --delta 0.9 "
        f"--seed 0 --targets {tmp_path}/some.csv --fail-on not-certified --report {report} "
        f"--json {document}"
    )
    code = main(line.split(" "))

    assert code == 4
    words = "50 of the 50 rows of"
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in report.read_text("utf-8").replace("\u00a0", " ")
    assert words in document.read_text("utf-8")
    markdown = audited(COARSE, COARSE[:50]).to_markdown()
    assert words in markdown
    assert "otherwise the verdict “within the limit” is not valid" in markdown


def test_levels_that_are_not_declared_are_noted_with_a_reference_too():
    model = ft.access.Function(
        lambda x: ((x["g"] == "a") & (x["x"] == 3)).astype(int), classes=[0, 1]
    )
    asked = dict(y_pred=None, model=model, features=COLUMNS, delta=0.4)
    reference = GRID.drop(columns="guess").drop_duplicates()
    data = COARSE.drop(columns="guess")

    result = audited(data, reference, **asked)
    declared = audited(data, reference, **asked, levels={"g": ["a", "b", "c"]})

    note = "The verdict covers the values of g that occur in the data or in `targets`"
    assert result.target_scope == declared.target_scope == "reference"
    assert result.verdict == "certified"
    assert [text for text in result.headline.warnings if text.startswith(note)]
    assert not [text for text in declared.headline.warnings if "The verdict covers" in text]
    # predictions alone have no twins: the reference says all
    assert not [
        text for text in audited(COARSE, GRID).headline.warnings if "The verdict covers" in text
    ]


# -- similarities that learned from the audit's people


def learned(kind, frame):
    columns = frame[["g", "x", "w"]]
    if kind == "subspace":
        return ft.similarity.SensitiveSubspace(["g"]).fit(columns)
    features = ["x", "w"]
    if kind == "groups":
        return ft.similarity.ComparableGroups(features=features).fit(columns, frame["g"].tolist())
    half = len(frame) // 2
    judged = np.arange(half) % 2
    pairs = (columns[features][:half], columns[features][half : 2 * half])
    return ft.similarity.ComparablePairs().fit(pairs, judged)


@pytest.mark.parametrize("kind", ["subspace", "groups", "pairs"])
@pytest.mark.parametrize("shared", [0, 2, 30, 60])
def test_a_similarity_says_how_many_of_the_audits_people_it_was_fitted_on(kind, shared):
    history, cases = (
        people(seed, 60, fine=True).assign(w=np.random.default_rng(seed).normal(size=60))
        for seed in (1, 2)
    )
    fitted = learned(kind, concat(history, cases[:shared]))
    result = audited(cases, None, similarity=fitted, budget=0.1)

    said = [text for text in result.warnings if "fitted on" in text]
    note = (
        f"{shared} of 60 people have the same x, w as a person in the data that the similarity was "
        "fitted on. The bounds are valid only if they are different people."
    )
    assert said == ([note] if shared else [])
    assert all(text in result.summary.warnings for text in said)
    assert "not used to make the model or to define who is similar" in result.to_markdown()


@pytest.mark.parametrize("kind", ["subspace", "groups"])
def test_a_similarity_that_was_fitted_on_the_audit_data_says_so(kind):
    cases = people(2, 60, fine=True).assign(w=np.random.default_rng(2).normal(size=60))
    result = audited(cases, None, similarity=learned(kind, cases), budget=0.1)

    assert result.warnings[0].startswith(
        "The similarity was fitted on all 60 people of the audit data. Who is similar then depends "
        "on the sample, and the bounds do not allow for that"
    )
