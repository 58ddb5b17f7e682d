"""Messages of a newer program: what this version knows of them is read, and no more is forgiven."""

import json
from typing import Any

import pytest
from backend_builders import host, key_frame, target
from pydantic import TypeAdapter, ValidationError
from tidscope_wire.frame import split
from tidscope_wire.generated.models import CollectorHello, CollectorMessage, FrameHeader, Gap
from tidscope_wire.unknown_members import MOST, known_part

HELLO = CollectorHello(protocol=1, host=host(), targets=[target()], policies=[], restored=[])
MESSAGE: TypeAdapter[Any] = TypeAdapter(CollectorMessage)
HEADER = TypeAdapter(FrameHeader)
GAP = Gap(from_seq=1, to_seq=2, reason="full")


def hello() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(HELLO.model_dump_json())
    return made


def test_unknown_members_are_left_out_wherever_they_are() -> None:
    assert known_part(MESSAGE, json.dumps(hello())) == (HELLO, [])
    newer = hello()
    newer["host"]["zone"] = {"name": "a"}
    newer["host"]["collector"]["build"] = None
    newer["targets"][0]["labels"] = [1, 2]
    newer["later"] = 1
    found, names = known_part(MESSAGE, json.dumps(newer))
    assert found == HELLO
    assert sorted(names) == ["host.collector.build", "host.zone", "later", "targets.labels"]


def test_events_of_unknown_kinds_are_left_out_and_the_others_stay() -> None:
    header, _ = split(key_frame(3))
    newer = json.loads(header.model_dump_json())
    known = json.loads(GAP.model_dump_json())
    newer["events"] = [
        {"type": "dawn"},
        known | {"cause": "x"},
        {"type": "dusk", "at_ns": 1},
        known,
    ]
    found, names = known_part(HEADER, json.dumps(newer).encode())
    assert found == header.model_copy(update={"events": [GAP, GAP]})
    assert names == ["events dawn", "events.cause", "events dusk"]


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "hullo"},
        {"protocol": "one", "later": 1},
        {"host": None, "later": 1},
        {f"later{number}": 1 for number in range(MOST + 1)},
    ],
)
def test_anything_else_is_refused(changes: dict[str, Any]) -> None:
    for text in (json.dumps(hello() | changes), "[]", "1", "{", '{"later":' * 2000):
        with pytest.raises(ValidationError):
            known_part(MESSAGE, text)
