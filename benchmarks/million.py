"""A million points: the whole audit in ten dimensions, and a model queried about each.

CPU seconds, each audit in a separate process. Half a million people are queried with their twins.
In ten dimensions similarity is Euclidean and the model is cheap; the model with mixed columns is a
gradient boosting, whose own time is reported, too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from afterwards import STAGES
from measure import in_fresh_process, peak_mib
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

PEOPLE, QUICK_PEOPLE = 500_000, 10_000
DIMENSIONS = 10
SEED = 17
AUDITS = {"0-1": {"loss": "zero-one"}}


def measure(people: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the stages of each audit."""
    audits = {}
    for name, settings in AUDITS.items():
        progress(f"{name}, {people:,} people")
        audits[name] = in_fresh_process(_audit, people, settings)
    return {"people": people, "dimensions": DIMENSIONS, "audits": audits}


def _audit(people: int, settings: dict[str, Any]) -> dict[str, Any]:
    _stages(500, settings)  # loads libraries and compiled code
    return _stages(people, settings)


def _stages(people: int, settings: dict[str, Any]) -> dict[str, Any]:
    import fairtransport as ft

    table = _people(people)
    columns = [f"x{at}" for at in range(DIMENSIONS)]
    needs_label = settings["loss"] == "zero-one"

    def model(asked: pd.DataFrame) -> np.ndarray:
        scores = _scores(asked)
        return (scores > 0.5).astype(int) if needs_label else scores

    times = [process_time()]
    result = ft.audit(
        table, "good", model=model, sensitive_features="group", budget=0.05, delta=0.05, rng=0,
        similarity=ft.similarity.MixedTabular(scales=dict.fromkeys(columns, 1.0)), **settings,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for stage in (
            lambda: None,
            lambda: (result.verdict, result.interval),
            lambda: result.write_moves(page.with_suffix(".parquet")),
            lambda: result.summary,
            lambda: result.to_html(page),
        ):
            stage()
            times.append(process_time())
        size = page.stat().st_size
    return {
        "points": result.points,
        "seconds": dict(zip(STAGES, np.diff(times).tolist(), strict=True)),
        "peak_mib": peak_mib(),
        "page_mb": size / 1e6,
        "statistic": result.statistic,
    }


def _people(people: int) -> pd.DataFrame:
    import pandas as pd

    rng = np.random.default_rng(SEED)
    columns = [f"x{at}" for at in range(DIMENSIONS)]
    table = pd.DataFrame(rng.normal(size=(people, DIMENSIONS)), columns=columns)
    table["group"] = rng.integers(0, 2, people)
    table["good"] = (rng.random(people) < _scores(table)).astype(int)
    return table


def _scores(table: pd.DataFrame) -> np.ndarray:
    """Return the scores of a model that is neither linear nor a function of one column."""
    place = table[["x0", "x1", "x2"]].to_numpy()
    inside = place[:, 0] + np.sin(2 * place[:, 1]) - 0.5 * place[:, 2] ** 2
    return np.asarray(1 / (1 + np.exp(-inside - 0.4 * table["group"].to_numpy())))


def measure_questions(people: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the cost of an audit with its verdict and summary, and of the model's own answers."""
    progress(f"a gradient boosting, {people:,} people")
    return in_fresh_process(_ask_boosting, people)


def _ask_boosting(people: int) -> dict[str, Any]:
    model = _fit_boosting()
    _question_stages(model, 500)  # loads libraries and compiled code
    return _question_stages(model, people)


def _question_stages(model: Any, people: int) -> dict[str, Any]:
    import fairtransport as ft

    table, seconds = _applicants(people, SEED), 0.0

    def predict(asked: pd.DataFrame) -> Any:
        nonlocal seconds
        start = process_time()
        answers = type(model).predict(model, asked)
        seconds += process_time() - start
        return answers

    model.predict = predict
    times = [process_time()]
    result = ft.audit(table, "good", model=model, sensitive_features="sex", delta=0.05, rng=0)
    times.append(process_time())
    _ = result.verdict, result.interval
    times.append(process_time())
    _ = result.summary
    times.append(process_time())
    return {
        "people": people,
        "questions": result.queried,
        "model": seconds,
        "seconds": dict(zip(("audit", "bounds", "summary"), np.diff(times).tolist(), strict=True)),
        "ratio": (times[-1] - times[0]) / seconds,
        "peak_mib": peak_mib(),
        "statistic": result.statistic,
    }


def _fit_boosting() -> Any:
    import pandas as pd
    from lightgbm import LGBMClassifier

    table = _applicants(20_000, SEED + 1)
    for name in ("sex", "job", "region"):
        table[name] = pd.Categorical(table[name], categories=sorted(table[name].unique()))
    return LGBMClassifier(n_jobs=1, verbose=-1).fit(table.drop(columns="good"), table["good"])


def _applicants(people: int, seed: int) -> pd.DataFrame:
    """Return people with columns of text, integers, floats and bools."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "sex": rng.choice(["f", "m"], people),
        "age": rng.integers(18, 90, people),
        "income": rng.lognormal(10, 1, people).round(2),
        "rating": rng.normal(size=people),
        "job": rng.choice(["clerk", "driver", "nurse", "teacher", "other"], people),
        "region": rng.choice([f"region {at}" for at in range(30)], people),
        "children": rng.integers(0, 5, people),
        "debt": rng.exponential(1000, people).round(),
        "married": rng.random(people) < 0.5,
    })  # fmt: skip
    inside = table["rating"] + 0.02 * (table["age"] - 50) + 0.5 * (table["sex"] == "m")
    table["good"] = (rng.random(people) < 1 / (1 + np.exp(-inside))).astype(int)
    return table


def question_table(found: dict[str, Any]) -> Table:
    """Return the stages of an audit and the model as a table."""
    made = Table(title=f"{found['questions']:,} questions, CPU seconds")
    for name in ("model", *found["seconds"], "whole / model", "peak MiB"):
        made.add_column(name, justify="right")
    made.add_row(
        f"{found['model']:.2f}", *(f"{one:.2f}" for one in found["seconds"].values()),
        f"{found['ratio']:.2f}", f"{found['peak_mib']:.0f}",
    )  # fmt: skip
    return made


def table(found: dict[str, Any]) -> Table:
    """Return the stages as a table."""
    made = Table(title=f"{2 * found['people']:,} points, CPU seconds")
    for name in ("audit of", *STAGES, "whole", "peak MiB", "page MB"):
        made.add_column(name, justify="right")
    for name, one in found["audits"].items():
        seconds = one["seconds"]
        made.add_row(
            name, *(f"{seconds[stage]:.1f}" for stage in STAGES), f"{sum(seconds.values()):.0f}",
            f"{one['peak_mib']:.0f}", f"{one['page_mb']:.2f}",
        )  # fmt: skip
    return made
