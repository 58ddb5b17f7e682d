"""Writer of frame headers from parts, each serialised when it changes.

The text is that of `FrameHeader(...).model_dump_json()`, which costs several times as much: most of
a header is what it was in the frame before.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidscope_wire.generated.models import (
    CollectorHealth,
    CountersSource,
    ExitedTotals,
    FrameKind,
    FrameTable,
    GroupCounts,
    MachineCounters,
    ProcessGauges,
    RoleTotals,
    TargetEvent,
)
from tidscope_wire.message import Message

NUMBER_BYTES = 20
"""Room for a number in a prepared header."""


class PreparedHeader(NamedTuple):
    """A header template with blanks where the numbers go.

    Attributes:
        text: JSON.
        places: offset of each number; NUMBER_BYTES are reserved, for `columns` more.
        columns_bytes: bytes reserved for `columns`.
    """

    text: bytes
    places: Mapping[str, int]
    columns_bytes: int


class HeaderWriter:
    """Writer of the headers of one target's frames.

    A part that is the same object as in the frame before is not serialised again, so parts are not
    changed once they were given. What differs in every frame is given beside its part.

    Args:
        target: id.
    """

    def __init__(self, target: str) -> None:
        self._start = f'{{"type":"frame","target":{json.dumps(target)},"seq":'
        self._process = _Part("cpu_ns")
        self._machine = _Part()
        self._health = _Part("sample_us", "late_us")
        self._exited = _Part()

    def write(
        self,
        *,
        seq: int,
        kind: FrameKind,
        baseline: bool,
        rows: int,
        fields: Sequence[str] | None,
        columns: Sequence[int] | None,
        time_ns: int,
        unix_us: int,
        live_threads: int,
        threads_born: int,
        events: Sequence[TargetEvent],
        process: ProcessGauges,
        cpu_ns: int | None,
        machine: MachineCounters,
        health: CollectorHealth,
        sample_us: int,
        late_us: int,
        exited: ExitedTotals,
        roles: Sequence[RoleTotals] | None,
        counters_from: CountersSource | None,
        tables: Sequence[FrameTable] | None,
        group: GroupCounts | None = None,
    ) -> bytes:
        """Write the header of a single frame.

        The arguments are members of FrameHeader, but that `cpu_ns` stands in place of that of
        `process`, `sample_us` and `late_us` in place of those of `health`.
        """
        return (
            f'{self._start}{seq},"first_seq":{seq},"kind":"{kind}",'
            f'"baseline":{_of(baseline)},"rows":{rows},"fields":{_json(fields)},'
            f'"columns":{_json(columns)},"time_ns":{time_ns},"unix_us":{unix_us},'
            f'"live_threads":{live_threads},"threads_born":{threads_born},'
            f'"events":{_list(events)},"process":{self._process.text(process, cpu_ns)},'
            f'"machine":{self._machine.text(machine)},'
            f'"health":{self._health.text(health, sample_us, late_us)},'
            f'"exited":{self._exited.text(exited)},"roles":{_list(roles)},'
            f'"counters_from":{_WORDS[counters_from]},"tables":{_list(tables)},'
            f'"group":{"null" if group is None else group.model_dump_json()}}}'
        ).encode()

    def prepare(
        self,
        *,
        columns: int,
        live_threads: int,
        threads_born: int,
        process: ProcessGauges,
        machine: MachineCounters,
        health: CollectorHealth,
        exited: ExitedTotals,
        counters_from: CountersSource | None,
    ) -> PreparedHeader:
        """Prepare the headers of delta frames without events, roles, tables, `cpu_ns` and group.

        The arguments are those of `write`, but that `columns` is how many the target has.
        """
        sample, late, rest = self._health.split(health)
        columns_bytes = max(len("null"), len(_json(range(columns))))
        parts = (
            (self._start, "seq"),
            (',"first_seq":', "first_seq"),
            (',"kind":"delta","baseline":false,"rows":', "rows"),
            (',"fields":null,"columns":', "columns"),
            (',"time_ns":', "time"),
            (',"unix_us":', "unix"),
            (
                f',"live_threads":{live_threads},"threads_born":{threads_born},"events":[],'
                f'"process":{self._process.text(process, None)},'
                f'"machine":{self._machine.text(machine)},"health":{sample}',
                "sample",
            ),
            (late, "late"),
        )
        text, places = b"", dict[str, int]()
        for before, name in parts:
            text += before.encode()
            places[name] = len(text)
            text += b" " * (columns_bytes if name == "columns" else NUMBER_BYTES)
        behind = (
            f'{rest},"exited":{self._exited.text(exited)},"roles":null,'
            f'"counters_from":{_WORDS[counters_from]},"tables":null,"group":null}}'
        )
        return PreparedHeader(text + behind.encode(), places, columns_bytes)


class _Part:
    """A part of a header as text.

    Args:
        numbers: its members that differ in every frame, in order.
    """

    def __init__(self, *numbers: str) -> None:
        self._behind = re.compile("|".join(f'(?<="{name}":)[^,}}]+' for name in numbers))
        self._count = len(numbers)
        self._model: Message | None = None
        self._pieces: list[str] = []

    def split(self, model: Message) -> list[str]:
        """Text before, between and after the numbers."""
        if model is not self._model:
            text = model.model_dump_json()
            self._pieces = self._behind.split(text, self._count) if self._count else [text]
            self._model = model
        return self._pieces

    def text(self, model: Message, *numbers: int | None) -> str:
        text, *pieces = self.split(model)
        for number, piece in zip(numbers, pieces, strict=True):
            text += f"{_of(number)}{piece}"
        return text


_WORDS: Mapping[CountersSource | None, str] = {
    None: "null",
    "genetlink": '"genetlink"',
    "walk": '"walk"',
    "procfs": '"procfs"',
}


def _of(value: int | None) -> str:
    """Format a number or a boolean as JSON."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(values: Sequence[str] | Sequence[int] | None) -> str:
    if values is None:
        return "null"
    return json.dumps(list(values), separators=(",", ":"), ensure_ascii=False)


def _list(models: Sequence[Message] | None) -> str:
    if models is None:
        return "null"
    return f"[{','.join(model.model_dump_json() for model in models)}]" if models else "[]"
