"""Takes most samples with one call of compiled code, and all others as `IdleSkippingReader` does.

../compiled/steady_sample.c says what the usual sample is; rows are kept in one array, which it
brings up to date in place.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.compiled.library import ODD, USUAL, Compiled
from tidscope_collector.compiled.rows import (
    SteadyRows,
    bits_of_delays,
    describe_network,
    describe_rows,
)
from tidscope_collector.compiled.structs import PLAN, TICK, Struct
from tidscope_collector.discovery.task_iterator import RECORD, TaskIterator
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.taskstats.reader import TaskstatsReader
from tidscope_collector.threads.reading import ExitDecoder, Reading
from tidscope_collector.walk.walks import Walks

_TIDY_NS = 950_000_000
AT_ONCE = 1000
"""Samples: as many as there is room for elsewhere."""
_MORE_THREADS = 64
"""So many may begin, and a quarter more, before Python has to take them in."""


class SteadyReader:
    """A `ProcessReader`.

    Args:
        compiled: the compiled code.
        general: takes the samples that are not as the one before; closed with it.
        iterator: its lister.
        reader: its reader, or what that reads from.
        network: its reader, if that adds network columns; None: the columns are the struct's alone.
        walks: lists threads in one call where the kernel can; None: only the iterator does.

    Attributes:
        query: the socket that threads are asked by.
    """

    def __init__(
        self,
        compiled: Compiled,
        general: IdleSkippingReader,
        iterator: TaskIterator,
        reader: TaskstatsReader,
        network: NetworkReader | None,
        walks: Walks | None = None,
    ) -> None:
        self._compiled = compiled
        self._general = general
        self._iterator = iterator
        self.query = reader.query
        self._reader = reader
        self._network = network
        self._plan = Struct(PLAN)
        self._sample_only = Struct(TICK)
        self._sample_only.point(plan=self._plan)
        self._steady: SteadyRows | None = None
        """The rows, if the next sample may be a steady one."""
        self._slots = self.query.slots
        self._plan_threads = 0
        self._tidied_ns = 0
        self.asked = 0
        self._describe_fixed()
        self._plan.set(program=-1 if walks is None else walks.program)
        self._plan.point(block=None if walks is None else walks.block)

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
        self._steady = None
        self._general.close()

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        steady = self.begin()
        if (
            steady is not None
            and not steady.rows["news"]
            and self.sampled(self._compiled.tick(self._sample_only.address))
        ):
            return steady.reading
        self._steady = None
        reading = self._general.read()
        self.asked = self._general.asked
        return self._prepare(reading)

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """See `SteadySource.begin`."""
        query = self.query
        if self._steady is None or self._slots is not query.slots:
            return None
        self._plan["sequence"] = query.number(self._plan_threads * samples)
        return self._steady

    at_once = AT_ONCE

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        """See `SteadySource.sampled`."""
        plan = self._plan
        self.asked = plan["asked"]
        if result == ODD:
            first, tids = plan["sequence"], self.query.requests["tid"][: self.asked].copy()
            self.query.explain(plan["got"], first, tids)
        if result != USUAL:
            self._steady = None
            return False
        if self._network is not None and plan["listed_ns"] - self._tidied_ns >= _TIDY_NS:
            self._tidied_ns = plan["listed_ns"]
            self._network.accounts.tidy()
        return True

    is_complete = True

    def complete(self) -> bool:
        """See `SteadySource.complete`."""
        return True

    def _describe_fixed(self) -> None:
        """Put into the plan what is the same for all samples."""
        reader, plan = self._reader, self._plan
        layout = self.query.kernel.layout
        plan.set(link=self._iterator.descriptor, socket=self.query.descriptor)
        plan.set(version=layout.version, tgid=reader.pid, tgid_at=layout.offsets.get("ac_tgid", 0))
        plan.set(pid_at=layout.offsets["ac_pid"], age_at=layout.offsets["ac_etime"])
        plan.set(fields=len(reader.fields), delays=bits_of_delays(reader.fields))
        plan.point(words=reader.columns.words)
        plan.point(network=describe_network(self._network, len(reader.fields), reader.pid))

    def _prepare(self, reading: Reading) -> Reading:
        """Make the rows of a reading those that steady samples bring up to date, if they can be."""
        query, records, count = self.query, self._iterator.records, len(reading.tid)
        shape = query.shape
        if shape is None or not np.array_equal(records["tid"], reading.tid):
            return reading  # someone did not answer, so there is no row for it
        query.reserve(count)
        self._slots = slots = query.slots
        self._plan_threads = count
        self._plan["numbers"] = count
        reading = replace(
            reading,
            tid=np.ascontiguousarray(reading.tid),
            counters=np.ascontiguousarray(reading.counters),
            absent=None if reading.absent is None else np.ascontiguousarray(reading.absent),
            changed=np.zeros(count, np.bool_),
            seen_ns=np.full(count, 0) if reading.seen_ns is None else reading.seen_ns,
        )
        self._general.keep(replace(reading, changed=None))
        rows, plan = describe_rows(reading), self._plan
        now = np.empty(count + count // 4 + _MORE_THREADS, RECORD)
        plan.point(rows=rows, now=now, before=records)
        plan.set(now_room=len(now))
        asking, found = np.empty(count, np.uint32), np.empty(count, np.uint32)
        plan.point(requests=query.requests, asking=asking, found=found, slots=slots.words)
        plan.set(messages=slots.headers_address, senders=slots.senders_address)
        plan.set(stride=slots.stride, lead=slots.lead)
        plan.set(length=shape.length, checks=len(shape.places))
        plan.set(thread=shape.thread, stats=shape.stats)
        plan.point(places=shape.places.astype(np.uint64), values=shape.values)
        self._steady = SteadyRows(reading, rows, plan, rows, walks=False, completed=False)
        return reading
