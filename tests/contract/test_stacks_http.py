"""Flame graphs over HTTP: leases, answers, differences, files, and what is refused."""

import asyncio
import gzip
import json
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from backend_builders import TARGET_ID, target
from backend_server import TOKEN, Backend, kind, running_backend
from fake_collector import FakeCollector
from run_folders import run_folder
from sampled_story import FIELDS, FUTEX, LOCK, SampledStory, sampled_story
from tidscope_backend.cli import main, stacks
from tidscope_wire.audit import FILE, read_records
from tidscope_wire.frame import join, row_bytes, split
from tidscope_wire.generated.models import (
    AttachCommand,
    DetachCommand,
    RefusedReply,
    SampleStacksCommand,
    StackDifference,
    StackGraph,
    StackPlaces,
    StackSampling,
    Target,
    TargetReply,
)
from tidscope_wire.problems import make_problem

VIEW_TOKEN = "view-token-of-the-tests"
RUN = "r-20261121-120000-00000a"
PATH = f"/api/v1/targets/{TARGET_ID}/stacks"
OF_RUN = f"/api/v1/runs/{RUN}/stacks"
Query = dict[str, str | int | bool]
WINDOW: Query = {"from_ns": 5_000_000_000, "to_ns": 20_000_000_000}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def story() -> SampledStory:
    return sampled_story(250, 1, weights=(1, 2))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(
    story: SampledStory, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Backend]:
    """A backend with the story as a run."""
    folder = tmp_path_factory.mktemp("backend")
    (folder / "runs").mkdir()
    run = run_folder(folder / "runs" / RUN, [story.frames], FIELDS, 1)
    manifest = run.read_manifest()
    ended = {"id": RUN, "state": "complete", "end": "stopped", "name": "bank"}
    run.write_manifest(manifest.model_copy(update=ended))
    async with running_backend(
        view_token=VIEW_TOKEN,
        web_dir=folder,
        runs_dir=folder / "runs",
        state_dir=folder / "state",
    ) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def collector(backend: Backend, story: SampledStory) -> AsyncIterator[FakeCollector]:
    """A collector that has sent the story."""
    async with backend.collector(targets=[target()]) as connected:
        await connected.greeted()
        await connected.send(*story.frames)
        async with backend.program() as client, asyncio.timeout(120):
            to_ns = 0
            while to_ns <= 23_000_000_000:
                asked = await client.get(f"{PATH}/places")
                to_ns = StackPlaces.model_validate_json(asked.content).to_ns
                await asyncio.sleep(0.05)
        yield connected


@pytest.mark.parametrize("path", [PATH, OF_RUN])
async def test_a_viewer_sees_flame_graphs(
    backend: Backend, collector: FakeCollector, story: SampledStory, path: str
) -> None:
    async with backend.viewer() as client:
        answer = await client.get(path, params={**WINDOW, "state": ["futex", "poll"], "tid": 201})
        assert answer.status_code == 200, answer.text
        found = StackGraph.model_validate_json(answer.content)
        truth = story.truth(
            found.from_ns, found.to_ns, lambda stay: stay.tid == 201 and stay.state == FUTEX
        )
        assert found.exact_ns == pytest.approx(truth["main",])
        assert found.frames[found.nodes[0].frame].function == "main"
        assert found.samples > 5
        assert found.reason == ""
        roles = await client.get(path, params={**WINDOW, "state": "futex", "role": "worker-#"})
        assert StackGraph.model_validate_json(roles.content).exact_ns > found.exact_ns
        for side in ("threads", "releasers", "holders"):
            of_lock = await client.get(path, params={**WINDOW, "lock": LOCK, "side": side})
            graph = StackGraph.model_validate_json(of_lock.content)
            assert (graph.side, graph.reason) == (side, "")


@pytest.mark.parametrize("path", [PATH, OF_RUN])
async def test_places_of_locks_and_threads(
    backend: Backend, collector: FakeCollector, path: str
) -> None:
    async with backend.viewer() as client:
        answer = await client.get(f"{path}/places", params=WINDOW)
        found = StackPlaces.model_validate_json(answer.content)
        (lock,) = found.locks
        assert lock.waits is not None
        assert lock.waits.function == "update_account"
        assert {one.tid for one in found.threads} >= {200, 201}


async def test_a_difference_of_a_target_and_a_run(
    backend: Backend, collector: FakeCollector
) -> None:
    query: dict[str, str | int | list[str]] = {
        **{"before": f"run:{RUN}", "before_from_ns": 5 * 10**9, "before_to_ns": 15 * 10**9},
        **{"after": f"target:{TARGET_ID}", "after_from_ns": 15 * 10**9},
        **{"after_to_ns": 20 * 10**9, "after_role": "worker-#", "after_state": ["futex"]},
    }
    async with backend.viewer() as client:
        answer = await client.get("/api/v1/stacks/difference", params=query)
        found = StackDifference.model_validate_json(answer.content)
        assert (found.before.label, found.before.seconds) == ("bank", 10)
        assert found.after.label == "work, worker-#, futex"
        assert (found.after.seconds, found.reason) == (5, "")
        assert all(node.low <= node.after - node.before <= node.high for node in found.nodes)
        polls = [
            node for node in found.nodes if found.frames[node.frame].function == "next_request"
        ]
        assert polls[0].before > 0
        assert polls[0].after == 0


@pytest.mark.parametrize("path", [PATH, OF_RUN])
async def test_folded_text_adds_up(backend: Backend, collector: FakeCollector, path: str) -> None:
    async with backend.viewer() as client:
        graph = StackGraph.model_validate_json((await client.get(path, params=WINDOW)).content)
        answer = await client.get(f"{path}/export", params=WINDOW)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"].endswith('.folded.txt"')
    lines = dict(line.rsplit(" ", 1) for line in answer.text.splitlines())
    assert sum(map(int, lines.values())) == pytest.approx(graph.exact_ns, abs=50)
    assert "main;serve;compute;round;scale" in lines
    assert int(lines["[unseen]"]) == pytest.approx(graph.unseen_ns, abs=1)


async def test_go_reads_the_profile(
    backend: Backend, collector: FakeCollector, tmp_path: Path
) -> None:
    asked: Query = {**WINDOW, "format": "pprof", "state": "futex"}
    async with backend.viewer() as client:
        answer = await client.get(f"{PATH}/export", params=asked)
        lines = (await client.get(f"{PATH}/export", params={**asked, "format": "folded"})).text
    profile = tmp_path / "stacks.pb.gz"
    profile.write_bytes(answer.content)
    raw = await asyncio.to_thread(pprof, "-raw", profile)
    assert "samples/count time/nanoseconds[dflt]" in raw
    assert "unlock_all" not in raw
    assert "update_account bank.c:4" in raw
    for line in lines.splitlines():
        assert f" {line.rsplit(' ', 1)[1]}: " in raw
    named = await asyncio.to_thread(pprof, "-top", profile)
    assert "File: bank" in named
    assert "futex_wait_queue" in named


def pprof(option: str, profile: Path) -> str:
    """Output of Go's own reader for a profile."""
    asked = ["go", "tool", "pprof", option, str(profile)]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


async def test_otlp_profiles_are_experimental(backend: Backend, collector: FakeCollector) -> None:
    asked: Query = {**WINDOW, "format": "otlp"}
    async with backend.viewer() as client:
        assert kind(await client.get(f"{PATH}/export", params=asked)) == (422, "bad-request")
        answer = await client.get(f"{PATH}/export", params={**asked, "experimental": True})
        lines = (await client.get(f"{PATH}/export", params=WINDOW)).text.splitlines()
    document = json.loads(answer.content)
    known = document["dictionary"]
    strings = known["stringTable"]
    (profile,) = document["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]
    assert strings[profile["sampleType"]["typeStrindex"]] == "time"

    def function(location: int) -> str:
        (line,) = known["locationTable"][location]["lines"]
        name: str = strings[known["functionTable"][line["functionIndex"]]["nameStrindex"]]
        return name

    found = []
    for sample in profile["samples"]:
        stack = known["stackTable"][sample["stackIndex"]]["locationIndices"]
        found.append(f"{';'.join(map(function, reversed(stack)))} {sample['values'][0]}")
    assert found == lines
    # Index 0 of each table stands for nothing.
    assert strings[0] == ""
    assert known["stackTable"][0] == {"locationIndices": []}


async def test_a_file_of_nothing_is_refused(backend: Backend, collector: FakeCollector) -> None:
    async with backend.viewer() as client:
        answer = await client.get(f"{PATH}/export", params={**WINDOW, "state": "child"})
        assert kind(answer) == (422, "bad-request")
        assert "no time" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        (PATH, {"state": "waiting"}, (422, "bad-request")),
        (PATH, {"lock": 7, "state": "poll"}, (422, "bad-request")),
        (PATH, {"from_ns": 7, "to_ns": 7}, (422, "bad-request")),
        (PATH, {"side": "owners"}, (422, "bad-request")),
        ("/api/v1/targets/t-1-00000000/stacks", {}, (404, "unknown-target")),
        ("/api/v1/runs/r-20261121-120000-00000b/stacks", {}, (404, "unknown-run")),
        ("/api/v1/stacks/difference", {"before": "run:x"}, (422, "bad-request")),
        (
            "/api/v1/stacks/difference",
            {"before": "run:x", "after": f"target:{TARGET_ID}"},
            (404, "unknown-run"),
        ),
        (
            "/api/v1/stacks/difference",
            {"before": f"run:{RUN}", "after": f"run:{RUN}", "after_state": "waiting"},
            (422, "bad-request"),
        ),
    ],
)
async def test_what_is_refused(
    backend: Backend,
    collector: FakeCollector,
    path: str,
    query: Query,
    expected: tuple[int, str],
) -> None:
    async with backend.program() as client:
        assert kind(await client.get(path, params=query)) == expected


async def test_stacks_are_taken_by_the_collector_and_logged_once(
    backend: Backend, collector: FakeCollector
) -> None:
    async with backend.program() as client:
        for seconds, until_us in ((30, 2**52), (20, 2**52)):
            asking = asyncio.create_task(client.post(PATH, json={"seconds": seconds}))
            command = await collector.command(SampleStacksCommand)
            assert (command.target, command.seconds) == (TARGET_ID, seconds)
            assert command.actor.role == "operator"
            sampling = StackSampling(
                until_unix_us=until_us, trigger="tracepoint", cpu_hz=49, reason=""
            )
            taken = target().model_copy(update={"stacks": sampling})
            await collector.say(
                TargetReply(request_id=command.request_id, target=taken, created=False)
            )
            answer = await asking
            assert Target.model_validate_json(answer.content).stacks == sampling
        graph = StackGraph.model_validate_json((await client.get(PATH)).content)
        assert graph.sampling == sampling
    assert backend.settings.state_dir is not None
    lines = [
        one
        for one in read_records(backend.settings.state_dir / FILE)
        if one.action == "sample-stacks"
    ]
    (line,) = lines
    assert (line.object, line.details) == (TARGET_ID, {"seconds": "30"})


async def test_the_command_line_takes_stacks_by_the_backend(
    backend: Backend,
    collector: FakeCollector,
    story: SampledStory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TIDSCOPE_TOKEN", TOKEN)
    begun, waits = threading.Event(), stacks._wait

    def wait(seconds: float) -> None:
        begun.set()
        waits(seconds)

    monkeypatch.setattr(stacks, "_wait", wait)
    other = "t-101-deadbeef"
    frames = [renamed(frame, other) for frame in story.frames]
    asked = ["--pid", "101", "--seconds", "3", "--state", "futex", "--port", str(backend.port)]
    running = asyncio.create_task(asyncio.to_thread(main, ["stacks", *asked]))
    attached = target(other)
    attach = await collector.command(AttachCommand)
    reply = TargetReply(request_id=attach.request_id, target=attached, created=True)
    await collector.say(reply)
    lease = await collector.command(SampleStacksCommand)
    await collector.say(reply.model_copy(update={"request_id": lease.request_id}))
    await collector.send(*frames[:100])
    # The window begins with these, and ends with later ones.
    assert await asyncio.to_thread(begun.wait, 120)
    await collector.send(*frames[100:])
    detach = await collector.command(DetachCommand)
    gone = target(other, state="detached")
    await collector.say(TargetReply(request_id=detach.request_id, target=gone, created=False))
    assert await running == 0
    lines = capsys.readouterr().out.splitlines()
    assert lease.seconds > 3
    assert lines[0].startswith("futex: ")
    assert " in 3.0 s, " in lines[0]
    assert lines[-1].endswith("futex_wait_queue")


def renamed(frame: bytes, target_id: str) -> bytes:
    """A frame of another target."""
    header, body = split(frame)
    rows = row_bytes(header, body)
    other = header.model_copy(update={"target": target_id})
    return join(other, bytes(body[:rows]), bytes(body[rows:]))


async def test_a_collector_without_an_unwinder_refuses(
    backend: Backend, collector: FakeCollector
) -> None:
    why = make_problem("no-stacks", "the kernel has no eBPF", "use Linux 6.1 or newer")
    async with backend.program() as client:
        asking = asyncio.create_task(client.post(PATH, json={"seconds": 1}))
        command = await collector.command(SampleStacksCommand)
        await collector.say(RefusedReply(request_id=command.request_id, problem=why))
        assert kind(await asking) == (409, "no-stacks")
        assert kind(await client.post(PATH, json={"seconds": 0})) == (422, "bad-request")
        gone = await client.post("/api/v1/targets/t-1-00000000/stacks", json={"seconds": 1})
        assert kind(gone) == (404, "unknown-target")


async def test_a_viewer_has_no_stacks_taken(backend: Backend, collector: FakeCollector) -> None:
    async with backend.viewer() as viewer:
        assert kind(await viewer.post(PATH, json={"seconds": 1})) == (403, "view-only")
        assert (await viewer.get(PATH)).status_code == 200


async def test_a_profile_is_compressed(backend: Backend, collector: FakeCollector) -> None:
    async with backend.viewer() as client:
        answer = await client.get(f"{OF_RUN}/export", params={**WINDOW, "format": "pprof"})
    assert b"update_account" in gzip.decompress(answer.content)
