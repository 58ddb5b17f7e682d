"""Counts of what a run holds and lacks, from the headers of its frames. Pure."""

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
"""If the wall clock moves by more than this against the monotonic one, it was set."""


class Instant(NamedTuple):
    """State of the last frame, for comparison with the next one.

    Attributes:
        seq: number of the frame.
        time_ns: since attach.
        unix_us: wall clock.
        missed_deadlines: of the collector's health.
        exit_records_lost: likewise.
        exits_without_event: likewise.
        network_calls_uncounted: likewise.
        exited: threads that have exited since attach; None: unknown.
        processes_missed: of a group; 0 of a single process.
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
    """The known losses at the end of a run.

    Attributes:
        to_ns: instant at which the run was to end, nanoseconds since attach; None: unknown.
        to_unix_us: the same by the wall clock, for runs whose `to_ns` is unknown.
        exited: threads that had exited by then; None: unknown.
    """

    to_ns: int | None
    to_unix_us: int
    exited: int | None = None


def instant_of(header: FrameHeader) -> Instant:
    """Keep of a frame what the next one is compared with."""
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
    """Counts of one run. Frames are added in order.

    Attributes:
        counts: how much there is; its `bytes` are not counted here.
        losses: what is missing; `missing_ns` is the time between the frames on either side of
            each gap, so one lost frame at ten a second counts 0.2 s, and the time of the tail.
        policies: what steered the target.
        counters_from: how counters were read, in the order of their first frames.
        first: the first instant; None before there is one.
        last: the newest.
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
            manifest: counts all frames up to its `to_ns`.
            last: the frame of that time; None if it counts none.
        """
        stats = cls()
        stats.counts = manifest.counts.model_copy()
        losses = manifest.losses
        # The run goes on: what came after its last frame is a gap, or arrives yet.
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
        """The target was already steered when the run started."""
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
        """Count a frame that was written."""
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
                # A thread that lived only between two samples has an exit and no birth.
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
        """The collector has dropped the frames up to this one."""
        self._announced = max(self._announced, to_seq)

    def frame_refused(self, header: FrameHeader) -> None:
        """Count a frame that could not be written as lost."""
        self.frames_lost(header.seq)

    def found(self, frames: int) -> None:
        """Set the number of frames found. Frames counted beyond it were lost with the disk."""
        if frames < self.counts.frames:
            self.losses.frames += self.counts.frames - frames
            self.losses.gaps += 1
            self.counts.frames = frames

    def close(self) -> None:
        """No frame follows: frames lost after the last one are a gap."""
        if self.last is not None and self._announced > self.last.seq:
            self.losses.frames += self._announced - self.last.seq
            self.losses.gaps += 1
            self._announced = 0

    def close_short(self, tail: Tail, rate_hz: float) -> None:
        """Count what is missing after the last frame; call before `close`.

        Args:
            tail: what is known of it.
            rate_hz: samples a second that were due.
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
