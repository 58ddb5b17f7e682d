"""Takes most samples with one call of compiled code, and all others as `IdleSkippingReader` does.

steady_sample.c says what the usual sample is, and why it is worth code of its own. Rows are kept in
one array, which it brings up to date in place.
"""

import ctypes
import os
import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.discovery.marks import RECORD
from tidscope_collector.discovery.task_iterator import TaskIterator
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.netacct.slots import CONTROL, COUNTERS, SLOT, SLOTS
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.taskstats.reader import TaskstatsReader
from tidscope_collector.threads.reading import ExitDecoder, Reading

LIBRARY = Path(__file__).with_name("steady_sample.so")
STEADY, OTHER_THREADS, ODD = range(3)
"""What `steady_sample` returns; -errno where the kernel refused."""
_TIDY_NS = 1_000_000_000

_MEMBERS = (
    *("link", "threads", "now", "before", "socket", "sequence", "requests", "rows", "messages"),
    *("slots", "stride", "lead", "senders", "length", "places", "values", "checks", "thread"),
    *("stats", "version", "pid_at", "tgid_at", "tgid", "age_at", "words", "fields", "width"),
    *("counters", "absent", "changed", "seen_ns", "net", "net_used", "net_uncounted"),
    *("net_expected", "net_most", "net_stride", "net_tgid", "net_tid", "net_start", "net_exit"),
    *("net_counters", "net_rows", "asked", "got", "listed_ns"),
)
PLAN = np.dtype([(name, "u8") for name in _MEMBERS])
"""struct plan of steady_sample.c."""

SteadySample = Callable[[int], int]
"""Takes a sample by the plan at an address."""


def load(path: Path = LIBRARY) -> SteadySample | None:
    """The compiled code; None where this processor cannot run it."""
    if platform.machine() != "x86_64" or not os.access(path, os.R_OK):
        return None
    function = ctypes.CDLL(str(path)).steady_sample
    function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_long
    return cast(SteadySample, function)


class SteadyReader:
    """A `ProcessReader`.

    Args:
        sample: the compiled code.
        general: takes the samples that are not as the one before; closed with it.
        iterator: its lister.
        reader: its reader, or what that reads from.
        network: its reader, if that adds network columns; None: the columns are the struct's alone.

    Attributes:
        query: the socket that threads are asked by.
    """

    def __init__(
        self,
        sample: SteadySample,
        general: IdleSkippingReader,
        iterator: TaskIterator,
        reader: TaskstatsReader,
        network: NetworkReader | None,
    ) -> None:
        self._sample = sample
        self._general = general
        self._iterator = iterator
        self.query = reader.query
        self._reader = reader
        self._network = network
        self._plan = np.zeros(1, PLAN)
        self._address = self._plan.ctypes.data
        self._members = self._plan.view(np.uint64)
        self._kept: list[npt.NDArray[np.generic]] = []
        """What the plan points to."""
        self._reading: Reading | None = None
        """The rows, if the next sample may be a steady one."""
        self._slots = self.query.slots
        self._tidied_ns = 0
        self.asked = 0
        self._describe_fixed()

    @property
    def fields(self) -> tuple[str, ...]:
        return self._general.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._general.absent

    @property
    def exits(self) -> ExitDecoder | None:
        return self._general.exits

    @property
    def listed(self) -> npt.NDArray[np.uint32]:
        return self._general.listed

    def close(self) -> None:
        """Close what is open."""
        self._reading = None
        self._general.close()

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        steady = self._reading
        if steady is not None and self._slots is self.query.slots:
            members = self._members
            first = self.query.number(len(steady.tid))
            members[_SEQUENCE] = first
            result = self._sample(self._address)
            if result == STEADY:
                self.asked = int(members[_ASKED])
                self._tidy(int(members[_LISTED_NS]))
                return steady
            if result == ODD:
                tids = self.query.requests["tid"][: int(members[_ASKED])].copy()
                self.query.explain(int(members[_GOT]), first, tids)
        self._reading = None
        reading = self._general.read()
        self.asked = self._general.asked
        return self._prepare(reading)

    def _tidy(self, now_ns: int) -> None:
        if self._network is not None and now_ns - self._tidied_ns >= _TIDY_NS:
            self._tidied_ns = now_ns
            self._network.accounts.tidy()

    def _describe_fixed(self) -> None:
        """Put into the plan what is the same for all samples."""
        reader, plan = self._reader, self._plan
        layout = self.query.kernel.layout
        plan["link"], plan["socket"] = self._iterator.descriptor, self.query.descriptor
        plan["version"], plan["tgid"] = layout.version, reader.pid
        plan["pid_at"], plan["age_at"] = layout.offsets["ac_pid"], layout.offsets["ac_etime"]
        plan["tgid_at"] = layout.offsets.get("ac_tgid", 0)
        plan["words"] = self._keep(reader.columns.words)
        plan["fields"], plan["width"] = len(reader.fields), len(self.fields)
        if self._network is not None:
            slots, control = self._network.accounts.slots, self._network.accounts.control
            plan["net"], plan["net_stride"] = self._keep(slots), SLOT.itemsize
            plan["net_most"] = SLOTS
            plan["net_used"] = self._keep(control) + _offset(CONTROL, "used")
            plan["net_uncounted"] = control.ctypes.data + _offset(CONTROL, "uncounted_calls")
            plan["net_expected"] = self._network.uncounted
            for member, name in _NETWORK.items():
                plan[member] = _offset(SLOT, name)
            plan["net_rows"] = self._keep(np.zeros(SLOTS, np.uint32))
        self._fixed = len(self._kept)

    def _keep(self, array: npt.NDArray[np.generic]) -> int:
        self._kept.append(array)
        return array.ctypes.data

    def _prepare(self, reading: Reading) -> Reading:
        """Make the rows of a reading those that steady samples bring up to date, if they can be."""
        query, records, count = self.query, self._iterator.records, len(reading.tid)
        shape = query.shape
        if shape is None or not np.array_equal(records["tid"], reading.tid):
            return reading  # someone did not answer, so there is no row for it
        query.reserve(count)
        self._slots = slots = query.slots
        counters = np.ascontiguousarray(reading.counters)
        absent = None if reading.absent is None else np.ascontiguousarray(reading.absent)
        changed = np.zeros(count, np.bool_)
        seen = np.full(count, 0) if reading.seen_ns is None else reading.seen_ns
        reading = replace(reading, counters=counters, absent=absent, changed=changed)
        self._general.keep(replace(reading, changed=None))
        plan, keep = self._plan, self._keep
        del self._kept[self._fixed :]
        plan["threads"] = count
        plan["now"], plan["before"] = keep(np.empty(count + 1, RECORD)), keep(records)
        plan["requests"], plan["rows"] = keep(query.requests), keep(np.empty(count, np.uint32))
        plan["messages"], plan["senders"] = slots.headers_address, slots.senders_address
        plan["slots"], plan["stride"], plan["lead"] = keep(slots.words), slots.stride, slots.lead
        plan["length"], plan["checks"] = shape.length, len(shape.places)
        plan["places"] = keep(shape.places.astype(np.uint64))
        plan["values"] = keep(shape.values)
        plan["thread"], plan["stats"] = shape.thread, shape.stats
        plan["counters"], plan["changed"], plan["seen_ns"] = map(keep, (counters, changed, seen))
        plan["absent"] = 0 if absent is None else keep(absent)
        self._reading = reading
        return reading


def _offset(struct: np.dtype[np.void], name: str) -> int:
    places = {} if struct.fields is None else dict(struct.fields)
    return places[name][1]


_SEQUENCE, _ASKED = _MEMBERS.index("sequence"), _MEMBERS.index("asked")
_GOT, _LISTED_NS = _MEMBERS.index("got"), _MEMBERS.index("listed_ns")
_NETWORK = {
    **{"net_tgid": "tgid", "net_tid": "tid", "net_start": "start_ns", "net_exit": "exit_ns"},
    "net_counters": COUNTERS[0],
}
"""Members of the plan that are places of members of a network slot."""
