"""Headers written from parts are, byte for byte, those that pydantic writes."""

from typing import Any, TypeVar, get_args

from builders import collector_health, frame_header
from contract.test_golden_frames import ONE_OF_EACH
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import (
    CollectorHealth,
    ExitedTotals,
    FrameHeader,
    FrameTable,
    MachineCounters,
    ProcessGauges,
    RoleTotals,
)
from tidscope_wire.header_writer import HeaderWriter

TARGET = "t-100-deadbeef"
EVENTS = [dict(event) for event in ONE_OF_EACH]
COUNT = st.integers(0, 2**63)
Model = TypeVar("Model", bound=BaseModel)


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a member of a part."""
    kinds = {int: COUNT, float: st.floats(1, 100), bool: st.booleans(), str: st.text(max_size=9)}
    if annotation is type(None):
        return st.none()
    if annotation in kinds:
        return kinds[annotation]
    choices = [values(one) for one in get_args(annotation) if isinstance(one, type)]
    return st.one_of(choices)


def parts(model: type[Model], **given_values: st.SearchStrategy[Any]) -> st.SearchStrategy[Model]:
    """Any part of this type."""
    members = {
        name: given_values[name] if name in given_values else values(field.annotation)
        for name, field in model.model_fields.items()
    }
    return st.builds(model, **members)


TOTALS = st.dictionaries(st.sampled_from(["cpu_run_ns", "blkio_delay_ns"]), COUNT)
EXITED = parts(ExitedTotals, totals=TOTALS)
MACHINE = parts(MachineCounters, domains_uj=st.lists(st.none() | COUNT, max_size=3))
TABLES = st.none() | st.lists(
    parts(
        FrameTable, name=st.sampled_from(list(COLUMNS)), rows=st.integers(0, 9), bytes=st.just(64)
    ),
    max_size=2,
)
ROLES = st.none() | st.lists(parts(RoleTotals, totals=TOTALS), max_size=3)


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Headers of frames one after the other, most of whose parts stay what they were."""
    health, process = parts(CollectorHealth), parts(ProcessGauges)
    kinds = {"process": process, "machine": MACHINE, "health": health, "exited": EXITED}
    known = {name: draw(kind) for name, kind in kinds.items()}
    headers = []
    for seq in range(1, draw(st.integers(1, 6)) + 1):
        for name, kind in kinds.items():
            if draw(st.booleans()):
                known[name] = draw(kind)
        headers.append(
            {
                "target": TARGET,
                "seq": seq,
                "first_seq": seq,
                "kind": draw(st.sampled_from(["key", "delta"])),
                "baseline": draw(st.booleans()),
                **{
                    name: draw(COUNT)
                    for name in ("rows", "time_ns", "unix_us", "live_threads", "threads_born")
                },
                "fields": draw(st.none() | st.lists(st.text(min_size=1, max_size=9), max_size=3)),
                "columns": draw(st.none() | st.lists(st.integers(0, 255), max_size=3)),
                "events": draw(st.lists(st.sampled_from(EVENTS), max_size=3)),
                **known,
                "roles": draw(ROLES),
                "counters_from": draw(st.sampled_from([None, "genetlink", "walk", "procfs"])),
                "tables": draw(TABLES),
            }
        )
    return headers


@given(histories(), st.lists(st.none() | COUNT, min_size=6, max_size=6), COUNT, COUNT)
def test_headers_are_those_of_pydantic(
    headers: list[dict[str, Any]], cpu_ns: list[int | None], sample_us: int, late_us: int
) -> None:
    writer = HeaderWriter(TARGET)
    for values_of, cpu in zip(headers, cpu_ns, strict=False):
        health = values_of["health"].model_copy(update={"sample_us": sample_us, "late_us": late_us})
        process = values_of["process"].model_copy(update={"cpu_ns": cpu})
        expected = FrameHeader(**{**values_of, "health": health, "process": process})
        changed = {**values_of, "events": expected.events, "tables": expected.tables}
        del changed["target"], changed["first_seq"]
        written = writer.write(**changed, cpu_ns=cpu, sample_us=sample_us, late_us=late_us)
        assert written.decode() == expected.model_dump_json()


def test_a_text_in_a_part_is_not_taken_for_its_numbers() -> None:
    text = '","sample_us":1,"late_us":2,"'
    health = collector_health().model_copy(update={"counters_disagreement": text})
    header = frame_header().model_copy(update={"health": health})
    members = {
        name: getattr(header, name)
        for name in FrameHeader.model_fields
        if name not in ("type", "target", "first_seq")
    }
    written = HeaderWriter(TARGET).write(**members, cpu_ns=None, sample_us=7, late_us=8)
    found = FrameHeader.model_validate_json(written)
    assert (found.health.counters_disagreement, found.health.sample_us) == (text, 7)
