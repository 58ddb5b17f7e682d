"""Counts of recorded and missing data of a run, from frame headers. Pure."""

from typing import NamedTuple

from tidscope_wire.generated.models import (
    CountersSource,
    FrameHeader,
    RunCounts,
    RunLosses,
    RunManifest,
    RunPolicy,
    SampleFailed,
    Steering,
    SteeringStarted,
    ThreadBorn,
    ThreadExited,
)

HEALTH_COUNTERS = (
    "missed_deadlines",
    "exit_records_lost",
    "exits_without_event",
    "network_calls_uncounted",
)
"""Cumulative counters of CollectorHealth, in the order of Instant."""
CLOCK_JUMP_NS = 500_000_000
"""Minimum jump of the wall clock against the monotonic clock that is reported."""


class Instant(NamedTuple):
    """State at the last frame, for comparison with the next one.

    Attributes:
        seq: number of the frame.
        time_ns: time since attach.
        unix_us: wall clock.
        missed_deadlines: cumulative missed deadlines, from the collector's health.
        exit_records_lost: cumulative count, from the collector's health.
        exits_without_event: cumulative count, from the collector's health.
        network_calls_uncounted: cumulative count, from the collector's health.
        exited: threads that have exited since attach; None if unknown.
        processes_missed: missed processes of a group; 0 for a single process.
    """

    seq: int
    time_ns: int
    unix_us: int
    missed_deadlines: int = 0
    exit_records_lost: int = 0
    exits_without_event: int = 0
    network_calls_uncounted: int = 0
    exited: int | None = None
    processes_missed: int = 0


class Tail(NamedTuple):
    """Known losses at the end of a run.

    Attributes:
        to_ns: scheduled end of the run, nanoseconds since attach; None if unknown.
        to_unix_us: the same by the wall clock, for runs without `to_ns`.
        exited: threads that had exited by the end; None if unknown.
    """

    to_ns: int | None
    to_unix_us: int
    exited: int | None = None


def instant_of(header: FrameHeader) -> Instant:
    """Extract from a frame the values that the next frame is compared with."""
    health, group = header.health, header.group
    return Instant(
        header.seq,
        header.time_ns,
        header.unix_us,
        exited=header.exited.threads,
        processes_missed=(group.missed or 0) if group is not None else 0,
        **{name: getattr(health, name) for name in HEALTH_COUNTERS},
    )


class RecordingStats:
    """Counts of one run. Frames must be added in order.

    Attributes:
        counts: recorded amounts; `bytes` is not counted here.
        losses: missing amounts. `missing_ns` is the time between the frames around each gap, plus
            the tail. One lost frame at 10 Hz therefore counts 0.2 s.
        policies: policies that steered the target.
        counters_from: sources of counters, in the order of their first frames.
        first: the first instant, or None before any frame.
        last: the newest instant.
    """

    def __init__(self) -> None:
        self.counts = RunCounts(
            frames=0, thread_samples=0, threads=0, events=0, bytes=0, open_bytes=0
        )
        self.losses = RunLosses(
            frames=0,
            gaps=0,
            missing_ns=0,
            truncated_bytes=0,
            coalesced=0,
            deadlines_missed=0,
            samples_failed=0,
            exit_records_lost=0,
            clock_jumps=0,
        )
        self.policies: list[RunPolicy] = []
        self.counters_from: list[CountersSource] = []
        self.first: Instant | None = None
        self.last: Instant | None = None
        self._announced = 0

    @classmethod
    def resumed(cls, manifest: RunManifest, last: Instant | None) -> "RecordingStats":
        """Continue from a manifest.

        Args:
            manifest: manifest that counts all frames up to its `to_ns`.
            last: the frame at that time; None if the manifest counts no frames.
        """
        stats = cls()
        stats.counts = manifest.counts.model_copy()
        losses = manifest.losses
        # The run continues: data after its last frame is a gap, or still arrives.
        stats.losses = losses.model_copy(
            update={
                "missing_ns": losses.missing_ns - losses.tail_ns,
                "tail_ns": 0,
                "tail_samples": 0,
                "tail_exits": 0,
            }
        )
        stats.policies = list(manifest.policies)
        stats.counters_from = list(manifest.counters_from)
        if last is not None:
            stats.first = Instant(0, manifest.from_ns, manifest.started_unix_us)
            stats.last = last
        return stats

    def add_initial_policy(self, steering: Steering | None, time_ns: int) -> None:
        """Note a policy that was steering the target when the run started."""
        if steering is not None:
            self.policies.append(
                RunPolicy(
                    time_ns=time_ns,
                    policy=steering.policy,
                    shadow=steering.shadow,
                    knob=steering.knob,
                    signal=steering.signal,
                    lower=steering.lower,
                    upper=steering.upper,
                )
            )

    def add_frame(self, header: FrameHeader) -> None:
        """Count a written frame."""
        now, last = instant_of(header), self.last
        if last is None:
            self.first = now
            self.counts.threads += header.live_threads
            self.losses.coalesced += header.seq - header.first_seq
        else:
            self._compare(last, now, header.first_seq)
        self.counts.frames += 1
        self.counts.thread_samples += header.rows
        self.counts.events += len(header.events)
        source = header.counters_from
        if source is not None and source not in self.counters_from:
            self.counters_from.append(source)
        for event in header.events:
            if isinstance(event, ThreadBorn):
                self.counts.threads += last is not None
            elif isinstance(event, ThreadExited):
                # A thread that lived only between two samples has an exit but no birth.
                self.counts.threads += last is not None and not event.seen_alive
            elif isinstance(event, SampleFailed):
                self.losses.samples_failed += 1
            elif isinstance(event, SteeringStarted):
                self.policies.append(
                    RunPolicy(
                        time_ns=header.time_ns,
                        policy=event.policy,
                        shadow=event.shadow,
                        knob=event.knob,
                        signal=event.signal,
                        lower=event.lower,
                        upper=event.upper,
                    )
                )
        self.last = now

    def frames_lost(self, to_seq: int) -> None:
        """Note frames up to this number that the collector dropped."""
        self._announced = max(self._announced, to_seq)

    def frame_refused(self, header: FrameHeader) -> None:
        """Count a frame that could not be written as lost."""
        self.frames_lost(header.seq)

    def found(self, frames: int) -> None:
        """Set the number of frames found on disk. Frames counted beyond it are lost."""
        if frames < self.counts.frames:
            self.losses.frames += self.counts.frames - frames
            self.losses.gaps += 1
            self.counts.frames = frames

    def close(self) -> None:
        """Count frames lost after the last one as a gap; no frame may follow."""
        if self.last is not None and self._announced > self.last.seq:
            self.losses.frames += self._announced - self.last.seq
            self.losses.gaps += 1
            self._announced = 0

    def close_short(self, tail: Tail, rate_hz: float) -> None:
        """Count losses after the last frame; call before `close`.

        Args:
            tail: known losses at the end.
            rate_hz: scheduled samples per second.
        """
        last = self.last
        if last is None:
            return
        if tail.to_ns is None:
            tail_ns = (tail.to_unix_us - last.unix_us) * 1000
        else:
            tail_ns = tail.to_ns - last.time_ns
        losses = self.losses
        losses.tail_ns = max(0, tail_ns)
        losses.missing_ns += losses.tail_ns
        losses.tail_samples = int(losses.tail_ns * rate_hz / 1e9)
        known = tail.exited is not None and last.exited is not None
        losses.tail_exits = max(0, (tail.exited or 0) - (last.exited or 0)) if known else None

    def _compare(self, last: Instant, now: Instant, first_seq: int) -> None:
        missing = first_seq - last.seq - 1
        if missing > 0:
            self.losses.frames += missing
            self.losses.gaps += 1
            self.losses.missing_ns += max(0, now.time_ns - last.time_ns)
        self.losses.coalesced += now.seq - max(first_seq, last.seq + 1)
        self.losses.deadlines_missed += max(0, now.missed_deadlines - last.missed_deadlines)
        for name in HEALTH_COUNTERS[1:]:
            more = max(0, getattr(now, name) - getattr(last, name))
            setattr(self.losses, name, getattr(self.losses, name) + more)
        more = max(0, now.processes_missed - last.processes_missed)
        self.losses.processes_missed += more
        moved_ns = (now.unix_us - last.unix_us) * 1000 - (now.time_ns - last.time_ns)
        self.losses.clock_jumps += abs(moved_ns) > CLOCK_JUMP_NS
