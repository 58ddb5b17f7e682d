"""Stacks of live targets, kept as long as the history that has their exact times.

Tables stay encoded until somebody asks for them, so that frames cost little while nobody looks.
"""

import threading
from collections import deque
from collections.abc import Container
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame import FrameError
from tidscope_wire.frame_tables import Table, empty_table, joined_rows
from tidscope_wire.generated.models import FrameHeader, TableName
from tidscope_wire.table_streams import decode_table, table_parts

from tidscope_backend.stacks.tables import StackTables, no_stacks
from tidscope_backend.stacks.trees import Stacks
from tidscope_backend.store.log_parts import stays_of

NAMES: tuple[TableName, ...] = ("stack_frames", "stack_nodes", "stack_periods")
SAMPLES: TableName = "stack_samples"
TABLES = frozenset({*NAMES, SAMPLES})
MAX_SAMPLES = 400_000
"""Maximum samples of one target. The oldest ones are dropped beyond it."""
MAX_PENDING_BYTES = 16 * 1024 * 1024
"""Maximum bytes of encoded tables of one target; likewise."""
MAX_TOTAL_BYTES = 64 * 1024 * 1024
"""Maximum bytes of the tables of all targets. The largest target is emptied beyond it."""


class _Pending(NamedTuple):
    """Encoded tables of one frame.

    Attributes:
        read_ns: when they were read, since attach.
        key: whether tables of names are complete.
        tables: data by name.
        bytes: length of the data.
    """

    read_ns: int
    key: bool
    tables: tuple[tuple[TableName, bytes], ...]
    bytes: int


class TargetStacks:
    """Stacks of one target. `receive` is for one thread; other methods are for any.

    Args:
        since_ns: samples of stays that began earlier never arrive, nanoseconds since attach.
        max_age_ns: maximum age of samples.

    Attributes:
        read_ns: time of the last reading of the tables, since attach; 0 without any.
        dropped: tables dropped beyond the bound.
    """

    def __init__(self, since_ns: int, max_age_ns: int) -> None:
        self.read_ns = 0
        self.dropped = 0
        self._max_age_ns = max_age_ns
        self._pending: deque[_Pending] = deque()
        self._pending_bytes = 0
        self._swap, self._decode = threading.Lock(), threading.Lock()
        self._names: dict[TableName, Table] = {name: empty_table(name) for name in NAMES}
        self._stacks = no_stacks().stacks
        self._samples = empty_table(SAMPLES)
        self._since_ns = since_ns

    @property
    def size(self) -> int:
        """Bytes of samples, and of what has not been decoded yet."""
        return self._pending_bytes + self._samples.nbytes

    def receive(self, header: FrameHeader, tables: tuple[tuple[TableName, bytes], ...]) -> None:
        """Take the tables of a frame."""
        times = (one.read_ns for one in header.tables or () if one.name in TABLES)
        read_ns = max((header.time_ns if one is None else one for one in times), default=0)
        size = sum(len(data) for _, data in tables)
        self.read_ns = max(self.read_ns, read_ns)
        key = header.kind == "key"
        with self._swap:
            if key:
                self._drop_names({name for name, _ in tables})
            self._pending.append(_Pending(read_ns, key, tables, size))
            self._pending_bytes += size
            while self._pending_bytes > MAX_PENDING_BYTES and len(self._pending) > 1:
                self._drop_oldest()

    def _drop_names(self, complete: Container[TableName]) -> None:
        """Drop tables that a key frame has completely."""
        kept = deque[_Pending]()
        for one in self._pending:
            rest = tuple(
                each for each in one.tables if each[0] == SAMPLES or each[0] not in complete
            )
            size = sum(len(data) for _, data in rest)
            self._pending_bytes -= one.bytes - size
            kept.append(_Pending(one.read_ns, one.key, rest, size))
        self._pending = kept

    def _drop_oldest(self) -> None:
        oldest = self._pending.popleft()
        self._pending_bytes -= oldest.bytes
        self._since_ns = max(self._since_ns, oldest.read_ns)
        self.dropped += len(oldest.tables)

    def clear(self) -> None:
        """Drop all samples. Names are complete again with the next key frame."""
        with self._decode, self._swap:
            while self._pending:
                self._drop_oldest()
            self._since_ns = max(self._since_ns, self.read_ns)
            self._samples = empty_table(SAMPLES)

    def read(self) -> StackTables:
        """Decode what has arrived, and return all stacks."""
        with self._decode:
            with self._swap:
                pending, self._pending = self._pending, deque()
                self._pending_bytes = 0
            self._take(pending)
            frames, nodes, periods = (self._names[name] for name in NAMES)
            return StackTables(frames, nodes, periods, self._samples, self._since_ns, self._stacks)

    def _take(self, pending: deque[_Pending]) -> None:
        found: dict[TableName, list[Table]] = {name: [self._names[name]] for name in NAMES}
        found[SAMPLES] = [self._samples]
        for one in pending:
            for name, data in one.tables:
                try:
                    table = decode_table(name, data)
                except FrameError:
                    continue
                if one.key and name != SAMPLES:
                    found[name].clear()
                found[name].append(table)
        changed = {
            name: joined_rows(name, found[name])
            for name in NAMES
            if len(found[name]) > 1 or found[name][0] is not self._names[name]
        }
        self._names |= changed
        if changed.keys() & {"stack_frames", "stack_nodes"}:
            self._stacks = Stacks(self._names["stack_frames"], self._names["stack_nodes"])
        if len(found[SAMPLES]) > 1:
            self._samples = self._kept(joined_rows(SAMPLES, found[SAMPLES]))

    def _kept(self, samples: Table) -> Table:
        """Return samples within the bounds, by number."""
        _, end_ns = stays_of(samples)
        samples = samples[end_ns >= self.read_ns - self._max_age_ns]
        dropped = samples[:-MAX_SAMPLES]
        if len(dropped):
            self._since_ns = max(self._since_ns, int(dropped["begin_ns"].max()) + 1)
        return np.ascontiguousarray(samples[-MAX_SAMPLES:])


class LiveStacks:
    """Stacks of all live targets.

    Args:
        max_age_ns: maximum age of samples, in nanoseconds.
    """

    def __init__(self, max_age_ns: int) -> None:
        self._max_age_ns = max_age_ns
        self._targets: dict[str, TargetStacks] = {}

    def receive(self, header: FrameHeader, body: memoryview) -> None:
        """Take the tables of a new frame of any target."""
        target = self._targets.get(header.target)
        if target is None:
            target = TargetStacks(header.time_ns, self._max_age_ns)
            self._targets[header.target] = target
        if not any(one.name in TABLES for one in header.tables or ()):
            return
        tables = tuple(
            (described.name, bytes(data))
            for described, data in table_parts(header, body)
            if described.name in TABLES
        )
        target.receive(header, tables)
        while sum(one.size for one in self._targets.values()) > MAX_TOTAL_BYTES:
            max(self._targets.values(), key=lambda one: one.size).clear()

    def get(self, target_id: str) -> TargetStacks | None:
        """Return the stacks of a target; None if no frame of it has arrived."""
        return self._targets.get(target_id)

    def forget(self, target_id: str) -> None:
        """Drop the stacks of a removed target."""
        self._targets.pop(target_id, None)
