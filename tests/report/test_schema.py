"""The published schema takes the documents we write and no others."""

import json
import runpy
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest

from fairtransport.documents.audit import audit_schema
from tests.report.samples import hostile, sample, with_budget

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(audit_schema())


def document(summary):
    return json.loads(summary.to_json())


@pytest.mark.parametrize(
    "name", ["audit.schema.json", "comparison.schema.json", "family.schema.json"]
)
def test_it_is_a_schema_and_the_published_one(name):
    script = runpy.run_path(str(ROOT / "scripts" / "make_schema.py"))
    jsonschema.Draft202012Validator.check_schema(script["SCHEMAS"][name]())
    assert (ROOT / "docs" / name).read_text("utf-8") == script["page"](name)


def test_all_samples_validate():
    for summary in (sample(), with_budget(), sample(price=float("inf"), verdict=None, delta=None)):
        VALIDATOR.validate(document(summary))
    VALIDATOR.validate(hostile().as_json())


def objects(schema, value, path=()):
    """Yield the path of every object that the schema describes field by field."""
    if isinstance(value, dict):
        if path[-1:] not in {
            ("from_profile",),
            ("to_profile",),
            ("profile",),
            ("group",),
            ("reference",),
            ("labels",),
            ("changes",),
            ("first",),
            ("second",),
            ("libraries",),
            ("accuracy_by_group",),
        }:
            yield path
        for name, item in value.items():
            yield from objects(schema, item, (*path, name))
    elif isinstance(value, list) and value:
        yield from objects(schema, value[0], (*path, 0))


def at(value, path):
    for step in path:
        value = value[step]
    return value


@pytest.mark.slow
def test_a_missing_or_an_unknown_field_fails_wherever_it_is():
    whole = document(with_budget())
    paths = list(objects(audit_schema(), whole))
    assert len(paths) >= 14
    for path in paths:
        more = deepcopy(whole)
        at(more, path)["surprise"] = 1
        assert not VALIDATOR.is_valid(more), path
        for name in at(whole, path):
            less = deepcopy(whole)
            del at(less, path)[name]
            assert not VALIDATOR.is_valid(less), (*path, name)


@pytest.mark.parametrize(
    ("field", "value"),
    [("verdict", "fair"), ("n", 1.5), ("statistic", None), ("schema", "other/1"), ("moves", {})],
)
def test_a_wrong_value_fails(field, value):
    assert not VALIDATOR.is_valid({**document(sample()), field: value})


def test_every_field_is_described():
    def sentences(schema):
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema["required"] == list(schema["properties"])
                yield from (one.get("description") for one in schema["properties"].values())
            for part in schema.values():
                yield from sentences(part)

    found = list(sentences(audit_schema()))
    assert len(found) > 100
    assert all(sentence.endswith(".") for sentence in found)
