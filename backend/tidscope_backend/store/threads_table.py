"""One row per thread: identity, counters at both ends of the run, and settled states. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import RunEvent, ThreadBorn, ThreadExited, ThreadRenamed
from tidscope_wire.role import RoleRule, role_of
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

from tidscope_backend.store.part_tables import KEYS
from tidscope_backend.store.parts import PartRows

Identity = tuple[int, int]
"""Thread id, and start in nanoseconds since attach."""
Counters = dict[str, int | None]


@dataclass
class _Life:
    """Facts of one thread's life so far; None if unknown."""

    from_ns: int
    to_ns: int = 0
    seen_ns: int = 0
    """End of the last part that contains the thread."""
    names: list[tuple[int, str]] = field(default_factory=list)
    first: Counters | None = None
    last: Counters | None = None
    exact: bool | None = None
    exited: bool = False
    pid: int = 0
    """Process ID, or 0 for a single-process target or an unknown process."""

    def called(self, time_ns: int, name: str) -> None:
        """Add a name that the thread had at a time."""
        if not self.names or self.names[-1][1] != name:
            self.names.append((time_ns, name))


def threads_schema(fields: Sequence[str], *, of_group: bool = False) -> pa.Schema:
    """Return the columns of docs/runs.md.

    Args:
        fields: fields of the target.
        of_group: whether the target is a group.
    """
    counters = pa.struct([pa.field(name, pa.uint64()) for name in fields])
    name = pa.struct({"time_ns": pa.int64(), "name": pa.utf8()})
    schema = pa.schema(
        {
            "tid": pa.uint32(),
            "start_ns": pa.int64(),
            "name": pa.utf8(),
            "names": pa.list_(name),
            "role": pa.utf8(),
            "from_ns": pa.int64(),
            "to_ns": pa.int64(),
            "exited": pa.bool_(),
            "exact": pa.bool_(),
            "first": counters,
            "last": counters,
        }
    )
    return schema.append(pa.field("pid", pa.uint32())) if of_group else schema


def threads_table(
    parts: Iterable[PartRows], fields: Sequence[str], rules: Sequence[RoleRule] = ()
) -> pa.Table:
    """Follow every thread through the parts of a run.

    Args:
        parts: parts of the run, in order.
        fields: fields of the target.
        rules: the target's rules, which assign roles to threads.

    Returns:
        Sorted by first occurrence, then by thread.
    """
    follower = _Follower(fields, rules)
    for part in parts:
        follower.follow(part)
    return follower.table()


class _Follower:
    def __init__(self, fields: Sequence[str], rules: Sequence[RoleRule]) -> None:
        self._fields = list(fields)
        self._rules = rules
        self._lives: dict[Identity, _Life] = {}
        self._alive: dict[int, Identity] = {}
        self._from_ns: int | None = None
        self._to_ns = 0
        self._of_group = False

    def follow(self, part: PartRows) -> None:
        """Add the next part."""
        seqs, times = part.times.seq.tolist(), part.times.time_ns.tolist()
        time_of = dict(zip(seqs, times, strict=True))
        if self._from_ns is None:
            self._from_ns = times[0]
        self._to_ns = times[-1]
        samples = part.samples()
        self._of_group |= "pid" in samples.column_names
        for row in _ends(samples):
            self._add_row(row, time_of, key_seq=seqs[0])
        for event in part.events():
            # Events in the first frame happened before the run.
            if event.time_ns > self._begin:
                self._add_event(event)

    def table(self) -> pa.Table:
        """Return all lives so far."""
        lives = self._lives.values()
        settle([life.first or {} for life in lives], [life.from_ns for life in lives])
        settle([life.last or {} for life in lives], [life.seen_ns for life in lives])
        rows = [self._row(key, life) for key, life in self._lives.items()]
        rows.sort(key=lambda row: (row["from_ns"], row["tid"], row["start_ns"]))
        schema = threads_schema(self._fields, of_group=self._of_group)
        return pa.Table.from_pylist(rows, schema=schema)

    def _add_row(self, row: Mapping[str, object], time_of: Mapping[int, int], key_seq: int) -> None:
        """Add the first or the last row of a life in a part."""
        tid, start_ns, seq, name = row["tid"], row["start_ns"], row["seq"], row["name"]
        if not isinstance(tid, int) or not isinstance(start_ns, int) or not isinstance(seq, int):
            return
        key, time_ns = (tid, start_ns), time_of[seq]
        counters = {one: _counter(row[one]) for one in self._fields}
        known = self._lives.get(key)
        life = known or self._lives.setdefault(key, _Life(time_ns))
        life.pid = _counter(row.get("pid")) or life.pid
        if known is None and start_ns < self._begin:
            life.first = counters
        if seq == key_seq:
            self._alive[tid] = key
            if isinstance(name, str):
                life.called(time_ns, name)
        life.seen_ns = self._to_ns
        if not life.exited:
            life.last = counters

    def _add_event(self, recorded: RunEvent) -> None:
        event = recorded.event
        if isinstance(event, ThreadBorn):
            key = (event.tid, event.start_ns)
            life = self._lives.setdefault(key, _Life(recorded.time_ns))
            life.from_ns = min(life.from_ns, recorded.time_ns)
            life.names.insert(0, (recorded.time_ns, event.name))
            life.pid = event.pid or life.pid
            self._alive[event.tid] = key
        elif isinstance(event, ThreadRenamed):
            key = self._alive.get(event.tid, (0, 0))
            if key in self._lives:
                self._lives[key].called(recorded.time_ns, event.name)
        elif isinstance(event, ThreadExited):
            key = (event.tid, event.start_ns)
            life = self._lives.setdefault(key, _Life(recorded.time_ns))
            life.called(recorded.time_ns, event.name)
            life.pid = event.pid or life.pid
            life.exited, life.exact, life.to_ns = True, event.exact, recorded.time_ns
            life.last = {name: event.totals.get(name) for name in self._fields}
            self._alive.pop(event.tid, None)

    @property
    def _begin(self) -> int:
        return self._from_ns or 0

    def _row(self, key: Identity, life: _Life) -> dict[str, object]:
        name = life.names[-1][1] if life.names else ""
        last = life.last or dict.fromkeys(self._fields)
        # Born within the run: counters began at 0.
        first = life.first or {f: None if last[f] is None else 0 for f in self._fields}
        return {
            "tid": key[0],
            "start_ns": key[1],
            "name": name,
            "names": [{"time_ns": time_ns, "name": one} for time_ns, one in life.names],
            "role": role_of(name, self._rules),
            "from_ns": life.from_ns,
            # A thread without later rows is idle; it still exists.
            "to_ns": life.to_ns if life.exited else self._to_ns,
            "exited": life.exited,
            "exact": life.exact,
            "first": first,
            "last": last,
            "pid": life.pid,
        }


def _counter(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _ends(samples: pa.Table) -> list[dict[str, object]]:
    """Return the first and the last row of each life in a part, the first ones first."""
    # Rows without a start: after a gap, no key frame or birth has the thread yet.
    samples = samples.filter(pc.field("start_ns").is_valid())
    if not len(samples):
        return []
    tids, starts, seqs = (samples[name].to_numpy() for name in KEYS[:3])
    order = np.lexsort((seqs, starts, tids))
    tid, start = tids[order], starts[order]
    edge = (np.diff(tid) != 0) | (np.diff(start) != 0)
    firsts = order[np.concatenate([[True], edge])]
    lasts = order[np.concatenate([edge, [True]])]
    rows: list[dict[str, object]] = samples.take(pa.array(firsts)).to_pylist()
    rows.extend(samples.take(pa.array(lasts)).to_pylist())
    return rows


Ints = npt.NDArray[np.int64]


def has_states(fields: Sequence[str]) -> bool:
    """Return True if rows with these fields contain the states of threads."""
    return {STATE, SINCE} <= set(fields)


def settle(rows: Sequence[Counters], times_ns: Sequence[int]) -> None:
    """Add to each row the stay in progress up to a time, if any.

    Afterwards the rows represent these times: the stay continues from there, so settling again at a
    later instant yields correct values.

    Args:
        rows: rows, changed in place; fields by name.
        times_ns: time of each row, since attach.
    """
    known = [
        (row, time_ns)
        for row, time_ns in zip(rows, times_ns, strict=True)
        if row.get(STATE) and row.get(SINCE) is not None
    ]
    if not known:
        return

    def column(name: str) -> npt.NDArray[np.uint64]:
        return np.array([row.get(name) or 0 for row, _ in known], np.uint64)

    finished = np.stack([column(name) for name in STATE_FIELDS], axis=1)
    until = np.array([time_ns for _, time_ns in known], np.uint64)
    values = states_at(finished, column(STATE), column(SINCE), until).tolist()
    for (row, time_ns), states in zip(known, values, strict=True):
        row.update(zip(STATE_FIELDS, states, strict=True))
        row[SINCE] = max(time_ns, row[SINCE] or 0)


def with_states_at(table: pa.Table, times_ns: Ints) -> pa.Table:
    """Return samples whose state columns include the stay in progress at a time of each row.

    Args:
        table: rows; a state that the collector did not know has no column. A table without
            state columns is unchanged.
        times_ns: times of each row.
    """
    if not has_states(table.column_names):
        return table
    known = {name for name in STATE_FIELDS if name in table.column_names}
    none = np.zeros(table.num_rows, np.uint64)
    finished = [_values(table[name]) if name in known else none for name in STATE_FIELDS]
    state, since = _values(table[STATE]), _values(table[SINCE])
    values = states_at(np.stack(finished, axis=1), state, since, times_ns.astype(np.uint64))
    for place, name in enumerate(STATE_FIELDS):
        if name not in known:
            continue
        absent = table[name].is_null().combine_chunks().to_numpy(zero_copy_only=False)
        full = pa.array(values[:, place], mask=absent if absent.any() else None)
        table = table.set_column(table.column_names.index(name), name, full)
    return table


def _values(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    values: npt.NDArray[np.uint64] = pc.fill_null(column, 0).to_numpy()
    return values
