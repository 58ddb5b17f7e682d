"""Rows of a reading as the compiled code sees them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from tidscope_collector.compiled.structs import NETWORK, ROWS, Struct
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.netacct.slots import COUNTERS, SLOT, SLOTS
from tidscope_collector.threads.reading import Reading, is_delay_time

_WORD = 8


class SteadyRows(NamedTuple):
    """What compiled code brings up to date, for whoever makes frames of it.

    Attributes:
        reading: the rows, which change in place.
        rows: the same as struct rows.
        sample: struct plan or struct walk.
        sampled: struct rows that the sample brings up to date, which says what else it found.
        walks: whether it is struct walk.
        completed: whether `SteadySource.complete` has to be called after a sample.
        ledgers: struct ledgers, whose `base` the sample brings up to date instead; None: the
            sample brings the rows up to date.
    """

    reading: Reading
    rows: Struct
    sample: Struct
    sampled: Struct
    walks: bool
    completed: bool
    ledgers: Struct | None = None


@runtime_checkable
class SteadySource(Protocol):
    """A reader whose samples compiled code may take.

    Threads that began since, ended or have other names are noted in struct rows; `read` takes them
    in.

    For such a sample: `begin`, the compiled code, `sampled`, and `complete` if the rows say so.
    """

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """The rows that compiled code may bring up to date now; None: `read` takes the sample.

        Args:
            samples: so many times, at most.
        """

    @property
    def at_once(self) -> int:
        """How many samples may be taken before `sampled` is called for the first."""

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        """Compiled code has taken it; whether the rows are up to date.

        Args:
            result: USUAL, or why they are not.
            cpu_ns: what it took.
        """

    @property
    def is_complete(self) -> bool:
        """Whether `complete` will find nothing to do after the sample that begins."""

    def complete(self) -> bool:
        """Do what compiled code has not done.

        Returns:
            False if the sample is not to be used.
        """


def steady_source(reader: object) -> SteadySource | None:
    """A reader, if compiled code may take its samples. Ask once: to find out takes long."""
    return reader if isinstance(reader, SteadySource) else None


def describe_rows(reading: Reading) -> Struct:
    """Make struct rows of a reading whose `changed` and `seen_ns` are given."""
    rows = Struct(ROWS)
    counters, absent = reading.counters, reading.absent
    row, column = counters.strides
    rows.set(count=len(reading.tid), width=counters.shape[1])
    rows.set(row_step=row // _WORD, column_step=column // _WORD)
    if absent is not None:
        rows.set(absent_row_step=absent.strides[0], absent_column_step=absent.strides[1])
    rows.point(counters=counters, absent=absent, changed=reading.changed, seen_ns=reading.seen_ns)
    rows.point(tids=np.ascontiguousarray(reading.tid), gone=np.zeros(len(reading.tid), np.bool_))
    return rows


def bits_of_delays(fields: Sequence[str]) -> int:
    """A bit for each column that is a delay of its thread."""
    return sum(1 << column for column, name in enumerate(fields) if is_delay_time(name))


def describe_network(reader: NetworkReader | None, first_column: int, pid: int) -> Struct | None:
    """Make struct network of what counts for a process.

    Args:
        reader: that adds the network columns; None: none does.
        first_column: of them.
        pid: the process.
    """
    if reader is None:
        return None
    network = Struct(NETWORK)
    slots, control = reader.accounts.slots, reader.accounts.control
    network.point(slots=slots, used=control["used"], uncounted=control["uncounted_calls"])
    network.point(rows=np.zeros(SLOTS, np.uint32))
    network.set(expected=reader.uncounted, most=SLOTS, stride=SLOT.itemsize, tgid=pid)
    network.set(tgid_at=_offset("tgid"), tid_at=_offset("tid"), start_at=_offset("start_ns"))
    network.set(exit_at=_offset("exit_ns"), counters_at=_offset(COUNTERS[0]))
    network.set(first_column=first_column)
    return network


def _offset(name: str) -> int:
    fields = {} if SLOT.fields is None else dict(SLOT.fields)
    return fields[name][1]
