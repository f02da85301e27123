"""How each library that runs in this process makes a table of columns."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "DuckDB": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
