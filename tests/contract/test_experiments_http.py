"""Experiments over HTTP: the list, one of them, and what is not there."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from backend_server import Backend, kind, running_backend
from experiment_entries import NAME, journal, write_journal
from tidscope_backend.experiments.child import BETWEEN_REPEATS_S
from tidscope_wire.generated.models import Experiment, ExperimentsResponse

ENTRIES = journal([({"size": 1}, [1.0, 1.0]), ({"size": 2}, [2.0, 2.0])])


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    write_journal(tmp_path / "runs", ENTRIES)
    (tmp_path / "runs" / ".experiments" / "x-20260101-000000-abcdef").mkdir()
    async with running_backend(runs_dir=tmp_path / "runs") as running:
        yield running


async def test_viewers_see_experiments(backend: Backend) -> None:
    async with backend.viewer() as viewer:
        answer = await viewer.get("/api/v1/experiments")
        found = ExperimentsResponse.model_validate_json(answer.raise_for_status().content)
        assert [one.id for one in found.experiments] == [NAME]
        assert (found.experiments[0].state, found.experiments[0].cells_done) == ("complete", 2)
        assert len(found.damaged) == 1
        answer = await viewer.get(f"/api/v1/experiments/{NAME}")
        one = Experiment.model_validate_json(answer.raise_for_status().content)
        assert [cell.key for cell in one.cells] == ["size=1", "size=2"]
        assert one.charts[0].series[0].points[1].mean == 2


@pytest.mark.parametrize("name", ["x-20260101-000000-abcdef", "x-20260101-000000-fedcba"])
async def test_what_is_not_there_or_damaged(backend: Backend, name: str) -> None:
    async with backend.program() as client:
        answer = await client.get(f"/api/v1/experiments/{name}")
        assert kind(answer) == (404, "unknown-experiment")


async def test_a_path_is_no_name(backend: Backend) -> None:
    async with backend.program() as client:
        answer = await client.get("/api/v1/experiments/..%2F..%2Fetc")
        assert kind(answer) == (404, "not-found")
        answer = await client.get("/api/v1/experiments/etc")
        assert kind(answer) == (422, "bad-request")


async def test_runs_do_not_list_the_folder_of_experiments(backend: Backend) -> None:
    async with backend.program() as client:
        found = (await client.get("/api/v1/runs")).json()
        assert (found["runs"], found["damaged"]) == ([], [])


FILE = """
version = 1
name = "{name}"
title = "A title"
[[program]]
workload = "{workload}/"
[time]
settle_s = 0.0
warm_up_s = 0.0
measure_s = {measure_s}
[repeats]
least = 1
most = 1
"""
ANSWERING = Path(__file__).parents[1] / "programs" / "answering_workload"


async def test_only_files_of_configured_folders_can_be_started(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    text = FILE.format(name="mine", workload=ANSWERING, measure_s=1)
    (folder / "mine.toml").write_text(text)
    (folder / "wrong.toml").write_text("version = 1")
    (tmp_path / "outside.toml").write_text(text)
    async with running_backend(runs_dir=tmp_path / "runs", experiment_dirs=(folder,)) as backend:
        async with backend.program() as client:
            answer = await client.get("/api/v1/experiments")
            found = ExperimentsResponse.model_validate_json(answer.raise_for_status().content)
            assert found.child is None
            mine, wrong = found.files
            assert (mine.name, mine.title, mine.problem) == ("mine", "A title", "")
            assert [one.preset for one in mine.lengths] == ["full", "quick"]
            assert mine.lengths[0].least_s == 1 * (1 + BETWEEN_REPEATS_S)
            assert "title: is missing" in wrong.problem
            assert wrong.lengths == []
            for name in ("outside", "../outside", str(tmp_path / "outside"), "none", ""):
                body = {"name": name, "preset": "full"}
                answer = await client.post("/api/v1/experiments", json=body)
                assert kind(answer) == (404, "unknown-experiment")
            # A command of the browser's has no place in the request.
            body = {"name": "mine", "preset": "full", "command": "true"}
            answer = await client.post("/api/v1/experiments", json=body)
            assert kind(answer) == (422, "bad-request")
            assert (await client.delete("/api/v1/experiments")).status_code == 204
        async with backend.viewer() as viewer:
            body = {"name": "mine", "preset": "full"}
            answer = await viewer.post("/api/v1/experiments", json=body)
            assert kind(answer) == (403, "view-only")
            answer = await viewer.delete("/api/v1/experiments")
            assert kind(answer) == (403, "view-only")


# The first run of each, which only fills caches, ends at once; the next one sleeps.
VARIANTS = """
version = 1
name = "sleeps"
title = "Two that sleep"
[[variant]]
name = "one"
command = ["sh", "-c", "mkdir ran-$0 2>/dev/null || exec sleep {number}", "one"]
[[variant]]
name = "other"
command = ["sh", "-c", "mkdir ran-$0 2>/dev/null || exec sleep {number}", "other"]
[difference]
recorded = 0
"""


def sleeping(number: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == f"sleep\0{number}\0".encode():
                return True
    return False


async def test_an_experiment_is_started_watched_and_ended(tmp_path: Path) -> None:
    number = f"9{os.getpid()}"
    (tmp_path / "sleeps.toml").write_text(VARIANTS.format(number=number))
    async with (
        running_backend(runs_dir=tmp_path / "runs", experiment_dirs=(tmp_path,)) as backend,
        backend.program() as client,
    ):

        async def listed() -> ExperimentsResponse:
            answer = await client.get("/api/v1/experiments")
            return ExperimentsResponse.model_validate_json(answer.raise_for_status().content)

        body = {"name": "sleeps", "preset": "quick"}
        answer = await client.post("/api/v1/experiments", json=body)
        assert answer.status_code == 201, answer.text
        while not sleeping(number):
            now = (await listed()).child
            assert now is not None
            assert now.exit_code is None, now.messages
        (running,) = (await listed()).experiments
        assert (running.name, running.state, running.preset) == ("sleeps", "running", "quick")
        answer = await client.post("/api/v1/experiments", json=body)
        assert kind(answer) == (409, "experiment-running")
        assert (await client.delete("/api/v1/experiments")).status_code == 204
        found = await listed()
        assert [one.state for one in found.experiments] == ["interrupted"]
        assert found.child is not None
        assert found.child.exit_code == 130
        assert "interrupted; continue with --resume" in found.child.messages[-1]
        assert not sleeping(number)
        async with backend.viewer() as viewer:
            seen = ExperimentsResponse.model_validate_json(
                (await viewer.get("/api/v1/experiments")).content
            )
            assert seen.child is not None
            assert seen.child.messages == []
        # The backend ends what it started.
        assert (await client.post("/api/v1/experiments", json=body)).status_code == 201
        while not sleeping(number):
            now = (await listed()).child
            assert now is not None
            assert now.exit_code is None, now.messages
    assert not sleeping(number)
