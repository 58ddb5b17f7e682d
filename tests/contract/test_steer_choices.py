"""The command line and the collector offer the knobs and signals of the schemas, in their order."""

import json
from pathlib import Path

import pytest
from tidscope_backend.cli import steer
from tidscope_collector.steering.loop import setup

SCHEMAS = Path(__file__).parents[2] / "shared" / "schemas"


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ("knob_kind", (steer.KNOBS, setup.KNOBS)),
        ("signal_kind", (steer.SIGNALS, setup.SIGNALS)),
    ],
)
def test_choices_are_those_of_the_schema(
    schema: str, offered: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    kinds = tuple(json.loads((SCHEMAS / f"{schema}.schema.json").read_text())["enum"])
    assert offered == (kinds, kinds)
