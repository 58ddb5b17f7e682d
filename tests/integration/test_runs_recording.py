"""Recording by a real backend: what comes from a collector lies in the folder of a run."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from backend_builders import TARGET_ID, frame_bytes, key_frame, steering, stream, target
from backend_server import Backend, running_backend
from fake_collector import FakeCollector
from live_page import LivePage
from run_folders import frames_of, open_seqs, seqs, singles, until
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.run_store import run_events
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FramesLost,
    GomaxprocsChanged,
    LiveState,
    Problem,
    RunEventsResponse,
    RunManifest,
    RunsResponse,
    SteeringStarted,
    TargetChanged,
    TargetEvent,
    TargetExited,
    ThreadBorn,
)


@dataclass
class Harness:
    """A backend with a folder for runs, a scripted collector and a page that follows its target."""

    backend: Backend
    runs: Path
    client: httpx.AsyncClient
    collector: FakeCollector
    page: LivePage
    states: list[LiveState] = field(default_factory=list)

    async def send(self, *frames: bytes) -> None:
        """Send frames and see them come through."""
        await self.collector.send(*frames)
        await self.page.frames(split(frames[-1])[0].seq)

    async def record(self, **request: Any) -> RunManifest:
        answer = await self.client.post("/api/v1/runs", json={"target": TARGET_ID, **request})
        assert answer.status_code == 201, answer.text
        run = RunManifest.model_validate_json(answer.content)
        if run.state == "recording":
            # Or the page's state of before could be taken for one without recordings any more.
            await self.state(lambda state: run.id in {one.run for one in state.recordings or []})
        return run

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        answer = await self.client.request(method, f"/api/v1{path}", **more)
        problem = Problem.model_validate_json(answer.content)
        assert problem.hint
        return answer.status_code, problem.type.rpartition(":")[2]

    async def stop(self, run: str) -> RunManifest:
        answer = await self.client.post(f"/api/v1/runs/{run}/stop")
        return RunManifest.model_validate_json(answer.raise_for_status().content)

    async def get(self, run: str) -> RunManifest:
        answer = await self.client.get(f"/api/v1/runs/{run}")
        return RunManifest.model_validate_json(answer.raise_for_status().content)

    async def list(self) -> RunsResponse:
        answer = await self.client.get("/api/v1/runs")
        return RunsResponse.model_validate_json(answer.raise_for_status().content)

    async def recorded(self, count: int) -> LiveState:
        """Wait until the page has a state with so many recordings."""
        return await self.state(lambda state: len(state.recordings or []) == count)

    async def state(self, wanted: Callable[[LiveState], bool]) -> LiveState:
        """Wait until the newest state of the page is as wanted."""
        self.states += [text for text in self.page.texts if isinstance(text, LiveState)]
        self.page.texts.clear()
        while not self.states or not wanted(self.states[-1]):
            self.states.append(await self.page.text(LiveState))
        return self.states[-1]

    def folder(self, run: str) -> RunFolder:
        return RunFolder(self.runs / run)


@asynccontextmanager
async def harness(
    runs: Path | None, frames: Sequence[bytes] = (), port: int = 0, **changes: Any
) -> AsyncIterator[Harness]:
    async with (
        running_backend(port, runs_dir=runs, queue_frames=10_000, **changes) as backend,
        backend.program() as client,
        backend.page() as page,
        backend.collector(targets=[target()]) as collector,
    ):
        await collector.greeted()
        await page.subscribe(TARGET_ID)
        made = Harness(backend, runs or Path("/nonexistent"), client, collector, page)
        if frames:
            await made.send(*frames)
        async with collector.confirming():
            yield made


async def test_a_run_begins_with_what_is_and_holds_what_comes(tmp_path: Path) -> None:
    async with harness(tmp_path / "runs", stream(1, 15)) as recorder:
        run = (await recorder.record(name="first", tags=["a"], notes="n", group="g")).id
        assert [one.name for one in (await recorder.recorded(1)).recordings] == ["first"]
        await recorder.send(*stream(16, 25))
        first, _ = split(frames_of(recorder.folder(run))[0])
        assert (first.kind, first.events) == ("key", [])
        await until(lambda: open_seqs(recorder.folder(run)) == singles(15, 25))
        done = await recorder.stop(run)
        assert not (await recorder.recorded(0)).recordings
        assert seqs(recorder.folder(run)) == singles(15, 25)
        assert (done.state, done.end) == ("complete", "stopped")
        assert (done.name, done.tags, done.notes, done.group) == ("first", ["a"], "n", "g")
        assert (done.from_ns, done.to_ns) == (1_500_000_000, 2_500_000_000)
        assert (done.counts.frames, done.counts.thread_samples) == (11, 11)
        assert (done.target.id, done.host.id) == (TARGET_ID, target().host)
        assert done.end_detail == "It was stopped."
        assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700
        await until(recorder.folder(run).threads.exists)
        assert recorder.folder(run).open_parts() == []
        assert seqs(recorder.folder(run)) == singles(15, 25)


def are_written(folder: RunFolder, last: int) -> bool:
    return open_seqs(folder) == singles(3, last)


async def test_each_frame_lies_there_at_once(tmp_path: Path) -> None:
    """Not only when a buffer is full: a killed backend has written all that it got."""
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        for seq in range(4, 9):
            await recorder.send(frame_bytes(seq))
            await until(partial(are_written, recorder.folder(run), seq))


async def test_recording_before_the_first_frame_waits_for_a_key_frame(tmp_path: Path) -> None:
    async with harness(tmp_path) as recorder:
        run = (await recorder.record(duration_s=0.5)).id
        await recorder.collector.send(frame_bytes(7), frame_bytes(8))
        await recorder.send(key_frame(9), *(frame_bytes(seq) for seq in range(10, 15)))
        await recorder.recorded(0)
        await recorder.send(frame_bytes(15))
        # From the first instant on, as there was none when it was asked for.
        assert seqs(recorder.folder(run)) == singles(9, 14)
        assert (await recorder.get(run)).end == "duration"


async def test_it_ends_by_itself(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 5)) as recorder:
        begun = await recorder.record(duration_s=1)
        assert begun.until_ns == 1_500_000_000
        await recorder.send(*stream(6, 15))
        await recorder.recorded(0)
        await recorder.send(*stream(16, 20))
        done = await recorder.get(begun.id)
        assert (done.state, done.end, done.to_ns) == ("complete", "duration", 1_500_000_000)
        assert seqs(recorder.folder(begun.id)) == singles(5, 15)


async def test_the_past_can_be_kept_after_the_fact(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 95)) as recorder:
        kept = await recorder.record(past_s=3, duration_s=0)
        assert (kept.state, kept.end) == ("complete", "flight-recorder")
        assert seqs(recorder.folder(kept.id)) == singles(65, 95)
        all_of_it = await recorder.record(past_s=86400, duration_s=0)
        assert seqs(recorder.folder(all_of_it.id)) == singles(1, 95)
        assert all_of_it.counts.frames == 95


async def test_the_past_of_a_target_that_has_ended(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 20)) as recorder:
        await recorder.send(frame_bytes(21, events=[TargetExited(exit_code=0)]))
        await recorder.collector.say(TargetChanged(target=target(state="exited")))
        while (await recorder.page.text(LiveState)).targets[0].state != "exited":
            pass
        assert await recorder.refused("POST", "/runs", json={"target": TARGET_ID, "past_s": 5}) == (
            410,
            "target-exited",
        )
        kept = await recorder.record(past_s=1, duration_s=0)
        assert seqs(recorder.folder(kept.id)) == singles(11, 21)


async def test_with_its_past_and_what_follows(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 95)) as recorder:
        begun = await recorder.record(past_s=3, duration_s=1)
        await recorder.send(*stream(96, 105))
        await recorder.recorded(0)
        await recorder.send(*stream(106, 120))
        # Seconds from now on, not from the run's first instant.
        assert seqs(recorder.folder(begun.id)) == singles(65, 105)


async def test_of_nothing_nothing_is_kept(tmp_path: Path) -> None:
    async with harness(tmp_path) as recorder:
        for body in ({"past_s": 5, "duration_s": 0}, {"duration_s": 0}):
            request = {"target": TARGET_ID, **body}
            assert await recorder.refused("POST", "/runs", json=request) == (422, "bad-request")
        assert (await recorder.list()).runs == []


async def test_record_pressed_twice(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        request = {"target": TARGET_ID}
        answers = await asyncio.gather(
            *(recorder.client.post("/api/v1/runs", json=request) for _ in range(4))
        )
        assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
        assert len((await recorder.list()).runs) == 1
        assert await recorder.refused("POST", "/runs", json=request) == (409, "already-recording")


async def test_stopped_twice(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        await recorder.stop(run)
        assert await recorder.refused("POST", f"/runs/{run}/stop") == (409, "not-recording")
        missing = "r-20260101-000000-abcdef"
        assert await recorder.refused("POST", f"/runs/{missing}/stop") == (404, "unknown-run")


async def test_the_last_frame_of_a_target_ends_the_run(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        await recorder.send(frame_bytes(4, events=[TargetExited(exit_code=3)]))
        await recorder.recorded(0)
        done = await recorder.get(run)
        assert (done.state, done.end, done.target.state) == ("complete", "target-ended", "exited")


async def test_what_did_not_come_is_counted(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        await recorder.send(*stream(4, 5), *stream(9, 10))
        lost = FramesLost(target=TARGET_ID, from_seq=11, to_seq=13, reason="full")
        await recorder.collector.say(lost)
        while not any(
            isinstance(text, FramesLost) and text.to_seq == 13 for text in recorder.page.texts
        ):
            recorder.page.texts.append(await recorder.page.text(FramesLost))
        done = await recorder.stop(run)
        assert (done.losses.frames, done.losses.gaps) == (6, 2)
        # From the frame before the hole to the one behind it; where none is behind it, unknown.
        assert done.losses.missing_ns == 400_000_000
        assert done.state == "incomplete"
        assert done.end_detail == "It was stopped. Missing: 6 frames in 2 gaps (0.4 s)."


async def test_policies_that_steer(tmp_path: Path) -> None:
    steered = target().model_copy(update={"steering": steering(since_unix_us=1)})
    async with harness(tmp_path, stream(1, 3)) as recorder:
        await recorder.collector.say(TargetChanged(target=steered))
        while (await recorder.page.text(LiveState)).targets[0].steering is None:
            pass
        run = (await recorder.record()).id
        began = SteeringStarted(
            policy="pss",
            shadow=True,
            knob="pool-agent",
            signal="queue-wait",
            proxy=False,
            lower=1,
            upper=4,
            size=2,
            actor="a",
        )
        await recorder.send(frame_bytes(4, events=[began]))
        done = await recorder.stop(run)
        reported = [(one.time_ns, one.policy, one.shadow, one.upper) for one in done.policies]
        assert reported == [(300_000_000, "fixed", False, 2), (400_000_000, "pss", True, 4)]


async def test_parts_are_cut_at_key_frames_and_closed(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 11), part_seconds=1.5) as recorder:
        folder = recorder.folder((await recorder.record()).id)
        await recorder.send(*stream(12, 60))
        # Key frames: 11, 21, 31, …; the first one 1.5 s after a part's start begins another.
        await until(lambda: folder.open_parts() == [3] and folder.sealed_parts() == [1, 2])
        assert open_seqs(folder) == singles(51, 60)
        assert seqs(folder) == singles(11, 60)


async def test_parts_are_bounded_in_bytes(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 11), part_bytes=1) as recorder:
        folder = recorder.folder((await recorder.record()).id)
        await recorder.send(*stream(12, 31))
        await until(lambda: {*folder.open_parts(), *folder.sealed_parts()} == {1, 2, 3})
        assert seqs(folder) == singles(11, 31)


async def test_people_say_what_a_run_is(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record(name="a", group="g", notes="n")).id
        await recorder.recorded(1)
        marks = [{"time_ns": 9, "text": "late"}, {"time_ns": 4, "text": "early"}]
        patch = {"name": "b", "group": None, "tags": ["x"], "marks": marks}
        answer = await recorder.client.patch(f"/api/v1/runs/{run}", json=patch)
        assert answer.status_code == 200
        await recorder.state(lambda state: [one.name for one in state.recordings] == ["b"])
        await recorder.send(*stream(4, 8))
        for said in (RunManifest.model_validate_json(answer.content), await recorder.stop(run)):
            assert (said.name, said.group, said.tags, said.notes) == ("b", None, ["x"], "n")
            assert [mark.text for mark in said.marks] == ["early", "late"]
        assert await recorder.refused("PATCH", f"/runs/{run}", json={"nmae": "c"}) == (
            422,
            "bad-request",
        )


async def test_deleted_and_restored(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        assert await recorder.refused("DELETE", f"/runs/{run}") == (409, "already-recording")
        await recorder.stop(run)
        assert (await recorder.client.delete(f"/api/v1/runs/{run}")).status_code == 204
        run_store = await recorder.list()
        assert (run_store.runs, [one.id for one in run_store.deleted]) == ([], [run])
        assert await recorder.refused("GET", f"/runs/{run}") == (404, "unknown-run")
        assert (await recorder.client.post(f"/api/v1/runs/{run}/restore")).status_code == 200
        run_store = await recorder.list()
        assert ([one.id for one in run_store.runs], run_store.deleted) == ([run], [])
        assert seqs(recorder.folder(run)) == singles(3, 3)
        assert await recorder.refused("POST", f"/runs/{run}/restore") == (404, "unknown-run")


async def test_who_watches_changes_nothing(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder, recorder.backend.viewer() as viewer:
        run = (await recorder.record()).id
        path = f"/api/v1/runs/{run}"
        for method, where in (
            ("POST", "/api/v1/runs"),
            ("POST", f"{path}/stop"),
            ("POST", f"{path}/restore"),
            ("PATCH", path),
            ("DELETE", path),
        ):
            answer = await viewer.request(method, where, json={"target": TARGET_ID})
            assert answer.status_code == 403, where
        for where in (
            "/api/v1/runs",
            path,
            *(f"{path}/{of}" for of in ("events", "frames", "extremes")),
        ):
            assert (await viewer.get(where)).status_code == 200, where
        assert (await recorder.get(run)).state == "recording"


async def test_events_of_threads_give_way(tmp_path: Path) -> None:
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        events: list[TargetEvent] = [
            GomaxprocsChanged(size=2, previous=1),
            ThreadBorn(tid=9, start_ns=1, name="a"),
        ]
        await recorder.send(frame_bytes(4, events=events), *stream(5, 6))
        await until(partial(are_written, recorder.folder(run), 6))
        for _ in range(2):
            answer = await recorder.client.get(f"/api/v1/runs/{run}/events")
            reported = RunEventsResponse.model_validate_json(answer.raise_for_status().content)
            assert [(one.seq, one.event) for one in reported.events] == [(4, e) for e in events]
            assert reported.omitted == 0
            if (await recorder.get(run)).state == "recording":
                await recorder.stop(run)
                await until(recorder.folder(run).threads.exists)
        few = run_events(recorder.folder(run), most=1)
        assert ([one.event for one in few.events], few.omitted) == ([events[0]], 1)


async def test_a_folder_that_cannot_be_made_leaves_the_backend_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (None, tmp_path / "file" / "runs"):
        async with harness(place, stream(1, 3)) as recorder:
            request = {"target": TARGET_ID}
            assert await recorder.refused("POST", "/runs", json=request) == (
                503,
                "runs-unavailable",
            )
            listed = await recorder.list()
            assert (listed.runs, listed.bytes) == ([], 0)


async def test_a_path_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "manifest.json").write_text("{}")
    async with harness(tmp_path / "runs") as recorder:
        for name in ("..%2f", "%2e%2e", "r-20260101-000000-abcdef%2f..", "r-1"):
            answer = await recorder.client.get(f"/api/v1/runs/{name}")
            assert answer.status_code in (404, 405), name
            assert (await recorder.client.delete(f"/api/v1/runs/{name}")).status_code in (404, 405)
        assert (tmp_path / "manifest.json").exists()


async def test_what_cannot_be_read_hides_nothing_and_is_left_alone(tmp_path: Path) -> None:
    broken = tmp_path / "r-20260101-000000-abcdef"
    broken.mkdir()
    (broken / "manifest.json").write_text('{"format": 2}')
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("")
    async with harness(tmp_path, stream(1, 3)) as recorder:
        run = (await recorder.record()).id
        copied = tmp_path / "r-20260101-000000-000000"
        shutil.copytree(recorder.folder(run).path, copied)
        listed = await recorder.list()
        assert [one.id for one in listed.runs] == [run]
        assert {one.folder for one in listed.damaged} == {broken.name, copied.name, "notes"}
        assert all(one.reason for one in listed.damaged)
        assert await recorder.refused("GET", f"/runs/{broken.name}") == (422, "bad-run")
    assert (broken / "manifest.json").read_text() == '{"format": 2}'
