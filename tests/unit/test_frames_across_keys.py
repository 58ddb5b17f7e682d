"""The schema is in key frames alone, and readers lose nothing by it.

Random histories go through each thing that frames pass: merging, the replay buffer with backends
that come and go, histories and slow pages, a part that is cut anywhere and recovered, export and
import. Whoever has a key frame and all since then knows every thread, with its last row.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from backend_builders import host, target
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from recorded import FIELDS, Reader, Story, story
from run_archives import import_without_process
from run_folders import run_folder
from tidscope_backend.exchange.importing import import_run
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import AnnouncedTargets
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.recording.endings import Ending
from tidscope_backend.recording.recording import DEFAULT_LIMITS
from tidscope_backend.recording.sealing import recover_recording
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.store.frame_files import pack_frame, whole_bytes, whole_frames
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.fanout import Fanout
from tidscope_backend.stream.frames import StoredFrame, merge, parse_frame
from tidscope_backend.stream.history import HistoryStore
from tidscope_backend.stream.subscription import Bounds, Subscription
from tidscope_wire.frame import FrameDecoder, split
from tidscope_wire.generated.models import FrameHeader, FramesLost

TARGET = "t-100-deadbeef"


@st.composite
def stories(draw: st.DrawFn, *, gaps: bool = True) -> Story:
    """A history whose first and last instants are key frames."""
    key_every = draw(st.integers(1, 12))
    instants = draw(st.integers(1, 6)) * key_every + 1
    inner = st.integers(2, max(2, instants - 1))
    missing = draw(st.frozensets(inner, max_size=3)) if gaps else frozenset()
    divided = draw(st.sampled_from([0, 0.5, 1]))
    return story(instants, draw(st.integers(0, 2**32)), key_every, missing - {1, instants}, divided)


def check(reader: Reader, reported: Story) -> None:
    """Check that the state of a reader is true wherever it can be known."""
    truth = dict(zip(reported.ends, reported.states, strict=True))
    # The events of a divided instant come before its rows.
    if reader.whole and reader.seq in truth:
        assert reader.state() == truth[reader.seq]


@given(stories(), st.data())
def test_merging_across_key_frames(reported: Story, data: st.DataObject) -> None:
    """In any groups, in one step or two: a key frame if one was among them."""
    frames, reader, decoder = list(reported.frames), Reader(), FrameDecoder()
    while frames:
        count = data.draw(st.integers(1, len(frames)))
        group, frames = frames[:count], frames[count:]
        fields = decoder.fields
        for frame in group:
            decoder.decode(frame)
        half = data.draw(st.integers(1, count))
        merged = merge(group[:half], fields)
        if half < count:
            behind = parse_frame(merged, fields).fields
            merged = merge([merged, merge(group[half:], behind)], fields)
        header, _ = split(merged)
        key = any(split(frame)[0].kind == "key" for frame in group)
        assert header.kind == ("key" if key else "delta")
        reader.read(merged)
        check(reader, reported)
    assert reader.state() == reported.states[-1]


class Backend:
    """A backend without sockets: frames go in at one end, and out to a page at the other."""

    def __init__(self, history_bytes: int, bounds: Bounds) -> None:
        registry = HostRegistry(10)
        registry.connect_host(host(), (target(),))
        self.store = HistoryStore(history_bytes, history_bytes, 3600 * 10**9, lambda: 0.0)
        self.announced = AnnouncedTargets(host().id, registry, [target()])
        self.bounds = bounds
        self.last_seq = 0
        self.page: Subscription | None = None
        self.ingest = FrameIngest(registry, Fanout(self.store), lambda *_: None, self)

    def receive(self, frame: StoredFrame, header: FrameHeader) -> None:
        """A new frame; as a recorder would get it."""
        self.last_seq = header.seq
        if self.page is not None:
            self.page.enqueue(frame)

    def frames_lost(self, lost: FramesLost) -> None:
        """Frame as a recorder receives it."""

    def collector_ends(self, last: Mapping[str, int]) -> None:
        """Frame as a recorder receives it."""

    def subscribe(self, after_seq: int | None) -> None:
        """A page connects."""
        self.page = Subscription(TARGET, self.store.get(TARGET), after_seq, self.bounds)


class Kept:
    """Frames that a collector keeps: the oldest groups go, but for the baseline.

    Attributes:
        sent: number of the last frame that was sent or reported lost.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._frames: list[tuple[FrameHeader, bytes]] = []
        self._baseline: tuple[FrameHeader, bytes] | None = None
        self._last = self.sent = 0

    def add(self, data: bytes) -> None:
        """Keep a frame."""
        header, _ = split(data)
        self._frames.append((header, data))
        self._last = header.seq
        while sum(len(one) for _, one in self._frames) > self._most_bytes:
            self._drop()
            while self._frames and self._frames[0][0].kind != "key":
                self._drop()

    def _drop(self) -> None:
        gone = self._frames.pop(0)
        if gone[0].baseline:
            self._baseline = gone

    def next(self) -> bytes | tuple[int, int] | None:
        """Take the next frame, or the first and last number of a loss."""
        kept = [self._baseline] if self._baseline else []
        following = [one for one in (*kept, *self._frames) if one[0].seq > self.sent]
        first = following[0][0].seq if following else self._last + 1
        if first > self.sent + 1:
            lost, self.sent = (self.sent + 1, first - 1), first - 1
            return lost
        self.sent = min(first, self._last)
        return following[0][1] if following else None

    def connected(self, seq: int) -> None:
        """Go on behind a frame."""
        self.sent = min(seq, self._last)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["sample", "send", "read", "backend", "link", "page", "new page"]),
        st.integers(1, 12),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(
    stories(gaps=False),
    STEPS,
    st.integers(4_000, 60_000),
    st.integers(6_000, 60_000),
    st.tuples(st.integers(1, 12), st.integers(3_000, 60_000), st.integers(3_000, 60_000)),
)
def test_a_stream_with_restarts_losses_and_a_slow_page(
    reported: Story,
    steps: Sequence[tuple[str, int]],
    kept_bytes: int,
    history_bytes: int,
    bounds: tuple[int, int, int],
) -> None:
    """A page that has begun at a key frame can read all that it is sent, and it is the truth."""
    kept, backend, reader = Kept(kept_bytes), Backend(history_bytes, Bounds(*bounds)), None
    waiting = list(reported.frames)

    def send(count: int) -> None:
        for _ in range(count):
            match kept.next():
                case (first, last):
                    message = FramesLost(target=TARGET, from_seq=first, to_seq=last, reason="full")
                    backend.ingest.record_loss(backend.announced, message)
                case bytes(frame):
                    backend.ingest.ingest(backend.announced, frame)

    def read(count: int) -> None:
        for _ in range(count):
            frame = backend.page.next_frame() if backend.page else None
            if frame is None:
                return
            assert reader is not None
            reader.read(frame.data)
            check(reader, reported)

    for step, count in [*steps, ("sample", len(waiting)), ("page", 1), ("send", 10**6)]:
        match step:
            case "sample":
                for frame in waiting[:count]:
                    kept.add(frame)
                del waiting[:count]
            case "send":
                send(min(count, len(reported.frames) + 1))
            case "read":
                read(count)
            case "backend":
                backend = Backend(history_bytes, Bounds(*bounds))
                kept.connected(0)
            case "link":
                kept.connected(backend.last_seq)
            case "page" if reader is not None and reader.seq:
                backend.subscribe(reader.seq)
            case _:
                reader = Reader()
                backend.subscribe(None)
    read(10**6)


@settings(max_examples=25, phases=[Phase.generate])
@given(stories(), st.data())
def test_a_part_cut_anywhere_is_recovered_and_goes_on(reported: Story, data: st.DataObject) -> None:
    """The rest of the run has no key frame of its own until the next one."""
    count = data.draw(st.integers(1, len(reported.frames)))
    behind = data.draw(st.integers(0, min(count, len(reported.frames) - 1)))
    cut = data.draw(st.integers(0, sum(len(pack_frame(one)) for one in reported.frames[:count])))
    with tempfile.TemporaryDirectory() as home:
        folder = run_folder(Path(home) / "run", [reported.frames[:count]], FIELDS, 0)
        path = folder.open_part(1)
        os.truncate(path, cut)
        whole = whole_bytes(path)
        lock = RunLock.acquire(folder)
        assert lock is not None
        manifest = folder.read_manifest()
        recording, _ = recover_recording(folder, lock, manifest, DEFAULT_LIMITS)
        assert path.stat().st_size == whole
        fields = FIELDS
        for frame in reported.frames[behind:]:
            stored = parse_frame(frame, fields)
            recording.receive(stored, split(frame)[0])
        recording.end(Ending("stopped", "complete", "Somebody stopped it."))
        lock.release()
        reader = Reader()
        for number in folder.open_parts():
            for frame in whole_frames(folder.open_part(number).read_bytes()):
                reader.read(frame)
                check(reader, reported)
        assert reader.state() == reported.states[-1]
        check_run(folder, reported)


@settings(max_examples=3, phases=[Phase.generate])
@given(stories(gaps=False), st.data())
def test_runs_are_the_same_elsewhere(reported: Story, data: st.DataObject) -> None:
    """Exported with some parts sealed, and imported."""
    keys = [place for place, frame in enumerate(reported.frames) if split(frame)[0].kind == "key"]
    cuts = sorted(data.draw(st.sets(st.sampled_from(keys), max_size=3)) | {0})
    parts = [
        reported.frames[start:end]
        for start, end in zip(cuts, [*cuts[1:], len(reported.frames)], strict=True)
    ]
    with tempfile.TemporaryDirectory() as home:
        sealed = data.draw(st.integers(0, len(parts)))
        folder = run_folder(Path(home) / "run", parts, FIELDS, sealed)
        archive = Path(home) / "archive"
        archive.write_bytes(b"".join(pack_run(folder.path)))
        there = Path(home) / "there"
        there.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            import_without_process(patch)
            run = import_run(archive, there, lambda _: False)
        exits = check_run(RunFolder(there / run.id), reported)
        assert exits == check_run(folder, reported)
        known = {
            key: {name: value for name, value in counters.items() if value is not None}
            for key, counters in reported.exits.items()
        }
        assert exits.items() <= known.items()


def check_run(folder: RunFolder, reported: Story) -> dict[tuple[int, int], dict[str, int | None]]:
    """Check a run's frames up to a gap; return the exits that it reports."""
    reader = Reader()
    for frame in frames_between(RunReader(folder.path), None, None, 5000):
        reader.read(frame)
        check(reader, reported)
    assert reader.seq == reported.ends[-1]
    return reader.exits
