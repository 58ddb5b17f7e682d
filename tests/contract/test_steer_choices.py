"""The command line and the collector offer the knobs and signals of the schemas, in their order."""

import pytest
from schema_check import schemas
from tidscope_backend.cli import steer
from tidscope_collector.steering.loop import setup


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ("KnobKind", (steer.KNOBS, setup.KNOBS)),
        ("SignalKind", (steer.SIGNALS, setup.SIGNALS)),
    ],
)
def test_choices_are_those_of_the_schema(
    schema: str, offered: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    kinds = tuple(schemas()[schema]["enum"])
    assert offered == (kinds, kinds)
