"""Engines count where the rows are: the same audit, and no more comes back than the points."""

from contextlib import closing, contextmanager
from pathlib import Path

import narwhals as nw
import pandas as pd
import pytest
from tests.data import engines
from tests.data.test_engines import AUDITS, pandas_frame, people, picture
from tests.pages import BLOCK

import fairtransport as ft
from fairtransport.datasets.compas import logistic_regression, split_compas

TIMES = 100
"""How often each case is in the engine: far more rows than points."""
FEWER = ("query access, counts", "predictions only")
"""Where a question takes seconds."""
pytestmark = [
    pytest.mark.slow,
    # what Spark's and ibis's own code does with a newer pandas
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated"),
]


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    path = tmp_path_factory.mktemp("cases") / "cases.parquet"
    pd.concat([pd.DataFrame(people())] * TIMES).to_parquet(path, index=False)
    return path


@contextmanager
def collected_rows():
    """Write down how many rows come from an engine each time that it is asked for any."""
    collect, rows = nw.LazyFrame.collect, []

    def counted(frame, *args, **kwargs):
        found = collect(frame, *args, **kwargs)
        rows.append(len(found))
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(nw.LazyFrame, "collect", counted)
        yield rows


def check_audits(frame, ways=tuple(AUDITS)):
    """Audit in some ways; return how many rows came back: as many as there are points."""
    back = 0
    for run in map(AUDITS.get, ways):
        expected = pandas_frame(pd.concat([pd.DataFrame(people())] * TIMES, ignore_index=True))
        wanted = run(expected, "good")
        with collected_rows() as rows:
            result = run(frame, "good")
        assert picture(result) == picture(wanted)
        # and, where counts could be weights, the distinct values of that column
        points, *weights = rows
        assert points == int(result.space.observed.sum())
        assert sum(weights) <= TIMES
        assert rows[0] <= len(people()["race"])
        back += sum(rows)
    return back


def check_page(library, folder, monkeypatch, **names):
    """Run the block of the page that imports a library: it gives what a pandas frame gives."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "engines.md").read_text("utf-8")
    begins = (f"import {library}", f"from {library}")
    (block,) = (one[3] for one in BLOCK.finditer(page) if one[3].startswith(begins))
    split = split_compas(seed=0)
    settings = dict(
        model=logistic_regression(split.training), sensitive_features=["race", "sex"], rng=0
    )
    split.audit.to_parquet(folder / "cases.parquet")
    monkeypatch.chdir(folder)
    names |= {"ft": ft, "settings": settings}
    exec(block, names)  # noqa: S102 - our own page
    straight = ft.audit(split.audit.drop(columns="high_risk"), "two_year_recid", **settings)

    assert names["result"].statistic == straight.statistic
    assert names["result"].n == len(split.audit)
    return names


def test_polars_counts_lazily(cases):
    import polars as pl

    check_audits(pl.scan_parquet(cases))


def test_duckdb_counts(cases):
    import duckdb

    with duckdb.connect() as connection:
        check_audits(connection.read_parquet(str(cases)))


def test_dask_counts_in_other_processes(cases, tmp_path, monkeypatch):
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="processes", num_workers=1):
        check_audits(dd.read_parquet(cases), FEWER)
        check_page("dask", tmp_path, monkeypatch)


@pytest.mark.skipif(engines.missing("java"), reason="Spark needs Java")
def test_spark_counts(cases, tmp_path, monkeypatch):
    from pyspark.sql.classic.dataframe import DataFrame

    back, to_pandas = [], DataFrame.toPandas
    monkeypatch.setattr(
        DataFrame, "toPandas", lambda frame: back.append(to_pandas(frame)) or back[-1]
    )
    for way in ("collect", "toArrow", "toLocalIterator", "take"):
        monkeypatch.delattr(DataFrame, way)
    monkeypatch.chdir(tmp_path)  # where Java is when the page names a file
    with engines.spark() as session:
        rows = check_audits(session.read.parquet(str(cases)), FEWER)
        assert sum(map(len, back)) == rows
        check_page("pyspark", tmp_path, monkeypatch)


@pytest.mark.skipif(engines.missing("postgres"), reason="PostgreSQL is not installed")
def test_postgresql_counts(cases, tmp_path, monkeypatch):
    with engines.postgres() as connection:
        connection.raw_sql("CREATE EXTENSION pg_stat_statements").close()
        connection.create_table("cases", pd.read_parquet(cases))
        rows = check_audits(connection.table("cases"))
        with closing(
            connection.raw_sql(
                "SELECT sum(rows)::bigint FROM pg_stat_statements "
                "WHERE query ILIKE 'select%' AND query ILIKE '%\"cases\"%'"
            )
        ) as answer:
            ((sent,),) = answer.fetchall()
        assert sent == rows  # what the server says that it handed out
        people_of_page = split_compas(seed=0).audit.astype({"age_cat": str})
        connection.create_table("compas", people_of_page)
        port = connection.con.info.port
        check_page("ibis", tmp_path, monkeypatch, port=port)["server"].disconnect()
