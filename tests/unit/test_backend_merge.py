"""Coalescing is exact: a reader of the merged frame is in the state of one that read them all."""

from collections.abc import Sequence

import pytest
from backend_builders import FIELDS, frame_bytes, key_frame
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_backend.stream.frames import merge
from tidscope_wire.frame import FrameDecoder, FrameError, join, split
from tidscope_wire.generated.models import (
    FrameHeader,
    Gap,
    RoleTotals,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

Values = tuple[int | None, int | None]
Identity = tuple[int, str, int | None]
"""Start, name and process; that is None where the target is one."""


def born(tid: int, start_ns: int = 0, name: str = "new", pid: int | None = None) -> ThreadBorn:
    return ThreadBorn(tid=tid, start_ns=start_ns, name=name, pid=pid)


def exited(tid: int, cpu: int = 0) -> ThreadExited:
    return ThreadExited(
        tid=tid,
        start_ns=0,
        name="old",
        totals={"cpu_run_ns": cpu},
        exact=True,
        seen_alive=True,
    )


def renamed(tid: int, name: str) -> ThreadRenamed:
    return ThreadRenamed(tid=tid, name=name, previous="old")


def merged_of(frames: Sequence[bytes], gap_reason: str = "") -> bytes:
    """Frames merged that come behind a key frame."""
    return merge(frames, FIELDS, gap_reason)


def read(frame: bytes) -> tuple[FrameHeader, dict[int, Values], dict[int, Identity] | None]:
    """Header, rows by tid, and identities by tid if it is a key frame."""
    header, rows = FrameDecoder(FIELDS).decode(frame)

    def value(field: str, place: int) -> int | None:
        mask = rows.absent.get(field)
        return None if mask is not None and mask[place] else int(rows.columns[field][place])

    tids = rows.tid.tolist()
    values = {
        tid: (value("cpu_run_ns", place), value("blkio_delay_ns", place))
        for place, tid in enumerate(tids)
    }
    if rows.start_ns is None or rows.name is None:
        return header, values, None
    pids = [None] * len(tids) if rows.pid is None else rows.pid.tolist()
    identities = zip(rows.start_ns.tolist(), rows.name, pids, strict=True)
    return header, values, dict(zip(tids, identities, strict=True))


def test_the_last_row_of_each_thread_stays_absent_values_included() -> None:
    merged = merged_of(
        [
            frame_bytes(4, {1: [10, 1], 2: [20, 2], 3: [30, 3]}),
            frame_bytes(5, {3: [31, None]}),
            frame_bytes(6, {1: [2**64 - 1, 4]}),
        ]
    )
    header, rows, identity = read(merged)
    assert (header.first_seq, header.seq, header.kind) == (4, 6, "delta")
    assert rows == {1: (2**64 - 1, 4), 2: (20, 2), 3: (31, None)}
    assert identity is None


def test_a_value_that_was_absent_and_came_is_there() -> None:
    _, rows, _ = read(merged_of([frame_bytes(1, {1: [1, None]}), frame_bytes(2, {1: [2, 7]})]))
    assert rows == {1: (2, 7)}


def test_the_header_is_that_of_the_last_frame() -> None:
    frames = [frame_bytes(1, time_ns=5), frame_bytes(2, time_ns=9)]
    header, _, _ = read(merged_of(frames))
    last, _, _ = read(frames[1])
    assert header == last.model_copy(update={"first_seq": 1})


def with_roles(frame: bytes, cpu: int) -> bytes:
    """The frame, with totals of a role in its header."""
    header, body = split(frame)
    totals = RoleTotals(role="worker-#", live=1, exited=0, totals={"cpu_run_ns": cpu})
    return join(header.model_copy(update={"roles": [totals]}), bytes(body))


def roles_cpu(frame: bytes) -> list[int]:
    header, _ = split(frame)
    return [totals.totals["cpu_run_ns"] for totals in header.roles or []]


def test_a_key_frame_has_no_role_totals_from_before_its_instant() -> None:
    identity = {1: (0, "worker-1")}
    key = with_roles(frame_bytes(1, {1: [5, None]}, time_ns=10, identity=identity), 5)
    later = frame_bytes(2, {1: [900, None]}, time_ns=900)
    assert roles_cpu(merge([key, later])) == []
    assert roles_cpu(merge([key, with_roles(later, 900)])) == [900]
    same_instant = frame_bytes(3, time_ns=900)
    assert roles_cpu(merge([key, with_roles(later, 900), same_instant])) == [900]


def test_delta_frames_keep_the_newest_role_totals() -> None:
    frames = [with_roles(frame_bytes(1, time_ns=10), 5), frame_bytes(2, time_ns=20)]
    assert roles_cpu(merged_of(frames)) == [5]


def test_one_frame_stays_what_it_is() -> None:
    frame = frame_bytes(3, {1: [5, None]}, identity={1: (-7, "main")}, events=[renamed(1, "main")])
    assert read(merged_of([frame])) == read(frame)


def test_events_stand_in_their_order() -> None:
    events: list[TargetEvent] = [born(7), renamed(7, "a"), exited(7), born(7)]
    merged = merged_of([frame_bytes(1, events=events[:1]), frame_bytes(2, events=events[1:])])
    assert read(merged)[0].events == events


def test_a_row_of_a_dead_thread_does_not_become_one_of_its_successor() -> None:
    frames = [
        frame_bytes(1, {7: [900, 9], 8: [1, 1]}),
        frame_bytes(2, {}, events=[exited(7, cpu=950), born(7, start_ns=5)]),
    ]
    assert read(merged_of(frames))[1] == {8: (1, 1)}


def test_the_successor_keeps_its_own_row() -> None:
    frames = [
        frame_bytes(1, {7: [900, 9]}),
        frame_bytes(2, {7: [3, 0]}, events=[exited(7), born(7, start_ns=5)]),
        frame_bytes(3, {8: [1, 1]}),
    ]
    assert read(merged_of(frames))[1] == {7: (3, 0), 8: (1, 1)}


def test_a_thread_that_lived_and_died_in_between_leaves_its_events_only() -> None:
    frames = [
        frame_bytes(1, {7: [1, 0]}, events=[born(7)]),
        frame_bytes(2, {}, events=[exited(7, cpu=5)]),
    ]
    header, rows, _ = read(merged_of(frames))
    assert rows == {}
    assert header.events == [born(7), exited(7, cpu=5)]


def test_a_key_frame_absorbs_what_was_before() -> None:
    frames = [
        frame_bytes(1, {1: [1, 1], 2: [2, 2]}),
        frame_bytes(2, {1: [5, 5]}, identity={1: (-1, "main")}, events=[exited(2)]),
    ]
    header, rows, identity = read(merged_of(frames))
    assert header.kind == "key"
    assert rows == {1: (5, 5)}
    assert identity == {1: (-1, "main", None)}


def test_what_comes_after_a_key_frame_is_worked_into_it() -> None:
    frames = [
        frame_bytes(
            1, {1: [1, 1], 2: [2, 2], 3: [3, 3]}, identity={n: (-n, f"t{n}") for n in (1, 2, 3)}
        ),
        frame_bytes(2, {1: [9, None], 4: [1, 0]}, events=[exited(2), born(4, 50, "four")]),
        frame_bytes(3, {}, events=[renamed(3, "three"), renamed(4, "vier")]),
    ]
    header, rows, identity = read(merged_of(frames))
    assert header.kind == "key"
    assert rows == {1: (9, None), 3: (3, 3), 4: (1, 0)}
    assert identity == {1: (-1, "t1", None), 3: (-3, "three", None), 4: (50, "vier", None)}


def test_an_id_used_again_after_a_key_frame_has_the_new_identity() -> None:
    frames = [
        frame_bytes(1, {2: [800, 8]}, identity={2: (-2, "old")}),
        frame_bytes(2, {2: [1, 0]}, events=[exited(2), born(2, 70, "young")]),
    ]
    _, rows, identity = read(merged_of(frames))
    assert rows == {2: (1, 0)}
    assert identity == {2: (70, "young", None)}


def test_a_newborn_without_a_row_has_no_values_rather_than_none_at_all() -> None:
    frames = [
        frame_bytes(1, {1: [1, 1]}, identity={1: (0, "main")}),
        frame_bytes(2, {}, events=[born(9, 70, "young")]),
    ]
    _, rows, identity = read(merged_of(frames))
    assert rows == {1: (1, 1), 9: (None, None)}
    assert identity is not None
    assert identity[9] == (70, "young", None)


def test_the_later_of_two_key_frames_counts() -> None:
    frames = [
        frame_bytes(1, {1: [1, 1], 2: [2, 2]}, identity={1: (0, "a"), 2: (0, "b")}),
        frame_bytes(2, {3: [3, 3]}, identity={3: (5, "c")}),
    ]
    _, rows, identity = read(merged_of(frames))
    assert rows == {3: (3, 3)}
    assert identity == {3: (5, "c", None)}


def test_a_hole_in_the_numbers_becomes_an_event() -> None:
    merged = merged_of([frame_bytes(3), frame_bytes(9, first_seq=8)], gap_reason="why")
    header, _, _ = read(merged)
    assert (header.first_seq, header.seq) == (3, 9)
    assert header.events == [Gap(from_seq=4, to_seq=7, reason="why")]


def other_key(seq: int) -> bytes:
    """A key frame of another number of columns."""
    return frame_bytes(seq, {1: [1]}, fields=["cpu_run_ns"], identity={1: (0, "main")})


@pytest.mark.parametrize(
    ("frames", "validation_text"),
    [
        ([frame_bytes(2), frame_bytes(2)], "frame 2 does not come after 2"),
        ([frame_bytes(1), frame_bytes(2, target_id="t-5-00000000")], "cannot be merged"),
        (
            [key_frame(1), frame_bytes(2, {1: [1]}, fields=["cpu_run_ns"])],
            "2 nodes.* for 3 columns",
        ),
        ([key_frame(1), other_key(2)], "columns change"),
        ([frame_bytes(1), b"garbage"], "header of"),
        ([frame_bytes(1)[:-30]], "Arrow"),
    ],
)
def test_what_does_not_fit_together_is_refused(frames: list[bytes], validation_text: str) -> None:
    with pytest.raises(FrameError, match=validation_text):
        merged_of(frames)


class Reader:
    """State of a page from frames: live threads, their counters, and the growth."""

    def __init__(self) -> None:
        self.alive: dict[int, Identity] = {}
        self.counters: dict[int, Values] = {}
        self.exits: list[tuple[int, int]] = []

    def apply(self, frame: bytes) -> None:
        header, rows, identity = read(frame)
        for event in header.events:
            if isinstance(event, ThreadBorn):
                self.alive[event.tid] = (event.start_ns, event.name, event.pid)
                self.counters.pop(event.tid, None)
            elif isinstance(event, ThreadRenamed) and event.tid in self.alive:
                start, _, pid = self.alive[event.tid]
                self.alive[event.tid] = (start, event.name, pid)
            elif isinstance(event, ThreadExited):
                self.alive.pop(event.tid, None)
                self.counters.pop(event.tid, None)
                self.exits.append((event.tid, event.totals["cpu_run_ns"]))
        if identity is not None:
            self.alive = dict(identity)
            self.counters = dict.fromkeys(identity, (None, None))
        for tid, values in rows.items():
            if tid in self.alive:
                self.counters[tid] = values


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    """A life of a few threads whose ids are used again, reported in frames from a key frame on.

    Those of a group are of two processes.
    """
    of_group = draw(st.booleans())
    alive: dict[int, Identity] = {}
    counters: dict[int, Values] = {}
    frames = []
    for seq in range(1, draw(st.integers(2, 9))):
        events: list[TargetEvent] = []
        changed: set[int] = set()
        for tid in draw(st.lists(st.integers(1, 4), max_size=5)):
            deed = draw(st.sampled_from(["work", "work", "die", "rename"]))
            if tid not in alive:
                pid = draw(st.sampled_from([1, 4])) if of_group else None
                alive[tid] = (seq * 10 + len(events), f"n{seq}", pid)
                events.append(born(tid, *alive[tid]))
                counters[tid] = (0, None)
            elif deed == "die":
                events.append(exited(tid, cpu=counters[tid][0] or 0))
                del alive[tid], counters[tid]
                changed.discard(tid)
                continue
            elif deed == "rename":
                start, _, pid = alive[tid]
                alive[tid] = (start, f"r{seq}", pid)
                events.append(renamed(tid, alive[tid][1]))
            counters[tid] = (
                (counters[tid][0] or 0) + draw(st.integers(0, 99)),
                draw(st.none() | st.integers(0, 9)),
            )
            changed.add(tid)
        if seq == 1 or draw(st.integers(0, 3)) == 0:
            names = {tid: (start, name) for tid, (start, name, _) in alive.items()}
            pids = {tid: pid or 0 for tid, (_, _, pid) in alive.items()} if of_group else None
            frames.append(
                frame_bytes(seq, dict(counters), identity=names, events=events, pids=pids)
            )
        else:
            frames.append(frame_bytes(seq, {t: counters[t] for t in changed}, events=events))
    return frames


def replay(frames: Sequence[bytes]) -> Reader:
    reader = Reader()
    for frame in frames:
        reader.apply(frame)
    return reader


@settings(max_examples=200, deadline=None)
@given(frames=streams(), data=st.data())
def test_a_reader_ends_in_the_same_state_wherever_frames_were_merged(
    frames: list[bytes], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(frames) - 1))
    end = data.draw(st.integers(start + 1, len(frames)))
    coalesced = [*frames[:start], merged_of(frames[start:end]), *frames[end:]]
    plain, merged = replay(frames), replay(coalesced)
    assert merged.alive == plain.alive
    assert merged.counters == plain.counters
    assert merged.exits == plain.exits


@settings(max_examples=100, deadline=None)
@given(frames=streams(), data=st.data())
def test_merging_in_steps_is_merging_at_once(frames: list[bytes], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(frames)))
    stepwise = merged_of([merged_of(frames[:cut]), *frames[cut:]])
    assert read(stepwise) == read(merged_of(frames))
