"""Makes the frames of one target: numbers them, writes their headers, has key frames among them."""

import time
from collections.abc import Callable

import numpy as np
from tidscope_wire.frame import NO_ROWS, EncodedRows, RowEncoder, Rows, join_text
from tidscope_wire.generated.models import (
    CollectorHealth,
    CountersSource,
    FrameKind,
    GroupCounts,
    MachineCounters,
    RoleTotals,
    TargetEvent,
)
from tidscope_wire.header_writer import HeaderWriter, PreparedHeader

from tidscope_collector.sampling.frame_bounds import Later, divide_events, exits_behind
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.process_meter import ProcessMeter
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import SampleTimes
from tidscope_collector.sampling.table_changes import NONE, EncodedTables, TableChanges
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.sampling.usual_tick import UsualFrame

KEY_FRAME_NS = 10_000_000_000
KEY_FRAME_BYTES = 4 * 1024 * 1024
ROLES_NS = 950_000_000


class FrameMaker:
    """Makes frames of what the tracker of a target says; belongs to the sampling thread.

    Args:
        target: id.
        tracker: of its threads.
        process: gauges of the process.
        machine: gives the machine's counters since attach.
        times: takes how long samples took.
        tables: that frames carry; None: none.
        group: gives how many processes a group has and had; None: the target is one process.

    Attributes:
        seq: number of the last frame; 0: there is none yet.
        counters_from: how the counters of the last sample were read; None before the first.
    """

    def __init__(
        self,
        target: str,
        tracker: Tracker,
        process: ProcessMeter,
        machine: Callable[[], MachineCounters],
        times: SampleTimes,
        tables: TableChanges | None = None,
        group: Callable[[], GroupCounts] | None = None,
    ) -> None:
        self.seq = 0
        self.counters_from: CountersSource | None = None
        self._headers = HeaderWriter(target)
        self._tracker = tracker
        self._process = process
        self._machine = machine
        self._times = times
        self._tables = tables
        self._group = group
        self._encoder = RowEncoder(tracker.fields)
        self._no_rows = Rows(
            np.empty(0, np.uint32), dict.fromkeys(tracker.fields, np.empty(0, np.uint64)), {}
        )
        self._key_ns = -KEY_FRAME_NS
        self._key_bytes = 0
        self._initial_threads: int | None = None
        self._threads_born = 0
        self._roles_ns = -ROLES_NS

    def sample(
        self,
        events: list[TargetEvent],
        rows: Rows | None,
        started_ns: int,
        late_ns: int,
        health: HealthNow,
        *,
        last: bool = False,
    ) -> list[SampledFrame]:
        """Make frames of one instant: the last one has the rows, those before it events only.

        Args:
            events: in order.
            rows: that changed; None: none. A key frame has all.
            started_ns: CLOCK_MONOTONIC before the sample.
            late_ns: how late the sample was.
            health: makes the health part.
            last: no frame follows: roles are reported, too.
        """
        parts = divide_events(events)
        frames = [
            self.exits(part, started_ns, health, later)
            for part, later in zip(parts[:-1], exits_behind(parts)[:-1], strict=True)
        ]
        live = len(self._tracker.threads)
        baseline = self._initial_threads is None and live > 0
        if baseline:
            self._initial_threads = live
        key = baseline or self.is_key_due(started_ns)
        if key:
            rows = self._tracker.all_rows()
            self._key_ns, self._key_bytes = started_ns, 0
        elif rows is None:
            rows = self._no_rows
        self._process.read_slow(started_ns)
        roles = None
        if key or last or started_ns - self._roles_ns >= ROLES_NS:
            roles, self._roles_ns = self._tracker.roles(started_ns), started_ns
        body = self._encoder.encode(rows)
        tables = NONE if self._tables is None else self._tables.next(whole=key, last=last)
        took_us = (time.monotonic_ns() - started_ns) // 1000
        self._times.note(took_us, time.monotonic_ns())
        frame = self._frame(
            parts[-1],
            started_ns,
            health.read(started_ns, last=last),
            body,
            sample_us=took_us,
            late_us=late_ns // 1000,
            key=key,
            baseline=baseline,
            rows=len(rows.tid),
            cpu_ns=self._process.take_cpu_ns(),
            roles=roles,
            tables=tables,
        )
        return [*frames, frame]

    @property
    def key_due_ns(self) -> int:
        """CLOCK_MONOTONIC from which the next frame is to be a key frame."""
        return self._key_ns + KEY_FRAME_NS

    def is_key_due(self, now_ns: int) -> bool:
        """Whether the next frame is to be a key frame."""
        return now_ns - self._key_ns >= KEY_FRAME_NS or self._key_bytes > KEY_FRAME_BYTES

    def prepare(self, health: CollectorHealth) -> PreparedHeader:
        """Prepare the header of the next frames, of usual ticks."""
        return self._headers.prepare(
            columns=len(self._tracker.fields),
            live_threads=len(self._tracker.threads),
            threads_born=self._threads_born,
            process=self._process.gauges(),
            machine=self._machine(),
            health=health,
            exited=self._tracker.exited(),
            counters_from=self.counters_from,
        )

    def usual(self, made: UsualFrame, now_ns: int) -> SampledFrame:
        """Number the frame of a usual tick, which was made with the number behind `seq`."""
        self.count_usual(len(made.data), made.sample_us, now_ns)
        return SampledFrame(self.seq, made.data, key=False)

    def count_usual(self, size: int, sample_us: int, now_ns: int) -> None:
        """Count the frame of a usual tick, which was made with the number behind `seq`."""
        self.seq += 1
        self._key_bytes += size
        self._times.note(sample_us, now_ns)

    def exits(
        self,
        events: list[TargetEvent],
        started_ns: int,
        health: HealthNow,
        later: Later | None = None,
    ) -> SampledFrame:
        """Make a frame without rows, of the instant of the one that follows.

        Args:
            events: of the frame.
            started_ns: its instant.
            health: makes the health part.
            later: exits that are counted already; None: none.
        """
        return self._frame(events, started_ns, health.read(started_ns), NO_ROWS, later=later)

    def _frame(
        self,
        events: list[TargetEvent],
        started_ns: int,
        health: CollectorHealth,
        body: EncodedRows,
        *,
        sample_us: int = 0,
        late_us: int = 0,
        later: Later | None = None,
        key: bool = False,
        baseline: bool = False,
        rows: int = 0,
        cpu_ns: int | None = None,
        roles: list[RoleTotals] | None = None,
        tables: EncodedTables = NONE,
    ) -> SampledFrame:
        self.seq += 1
        exited, live = self._tracker.exited(), len(self._tracker.threads)
        if later is not None:
            exited, live = later.before(exited), live + later.seen_alive
        # An exit without a record may be withdrawn in the next sample; the count never falls.
        born = live + exited.threads - (self._initial_threads or 0)
        self._threads_born = max(self._threads_born, born)
        ago_us = (time.monotonic_ns() - started_ns) // 1000
        kind: FrameKind = "key" if key else "delta"
        header = self._headers.write(
            seq=self.seq,
            kind=kind,
            baseline=baseline,
            rows=rows,
            fields=body.fields,
            columns=body.columns,
            time_ns=max(0, started_ns - self._tracker.attach_ns),
            unix_us=time.time_ns() // 1000 - ago_us,
            live_threads=live,
            threads_born=self._threads_born,
            events=events,
            process=self._process.gauges(),
            cpu_ns=cpu_ns,
            machine=self._machine(),
            health=health,
            sample_us=sample_us,
            late_us=late_us,
            exited=exited,
            roles=roles,
            counters_from=self.counters_from,
            tables=tables.described or None,
            group=None if self._group is None else self._group(),
        )
        data = join_text(header, body.data, tables.data)
        self._key_bytes += len(data)
        return SampledFrame(self.seq, data, key, baseline)
