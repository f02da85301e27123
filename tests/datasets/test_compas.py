"""The embedded COMPAS table."""

from fairtransport.datasets import load_compas
from fairtransport.datasets.compas import FEATURES, LABEL, SENSITIVE, split_compas

COMPAS = load_compas()
VALUES = {
    "sex": {"Female", "Male"},
    "race": {"African-American", "Caucasian"},
    "age_cat": {"Less than 25", "25 - 45", "Greater than 45"},
    "priors": {"0", "1 to 3", "More than 3"},
    "charge": {"F", "M"},
    "two_year_recid": {0, 1},
    "high_risk": {0, 1},
}


def test_it_holds_5278_people_in_260_cells():
    assert COMPAS["count"].sum() == 5278
    assert len(COMPAS) == 260
    assert COMPAS["count"].min() >= 1
    assert not COMPAS.drop(columns="count").duplicated().any()


def test_its_columns_and_values_are_those_documented():
    assert COMPAS.columns.tolist() == [*FEATURES, LABEL, "high_risk", "count"]
    assert {name: set(COMPAS[name]) for name in VALUES} == VALUES
    assert set(SENSITIVE) <= set(FEATURES)


def test_its_cells_collapse_to_the_papers_144_of_which_142_are_occupied():
    cells = [*FEATURES, LABEL]
    possible = 1
    for name in cells:
        possible *= COMPAS[name].nunique()

    assert possible == 144
    assert len(COMPAS.groupby(cells)) == 142


def test_a_split_keeps_everyone_once_and_depends_on_the_seed_alone():
    split, again, other = split_compas(0), split_compas(0), split_compas(1)
    columns = COMPAS.columns.drop("count").tolist()
    people = COMPAS.loc[COMPAS.index.repeat(COMPAS["count"]), columns]
    together = [*split.training.itertuples(index=False), *split.audit.itertuples(index=False)]

    assert len(split.training) == int(0.7 * 5278)
    assert sorted(map(tuple, together)) == sorted(map(tuple, people.itertuples(index=False)))
    assert split.audit.equals(again.audit)
    assert not split.audit.equals(other.audit)
