"""Experiments over HTTP: the list, one of them, and what is not there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_server import Backend, kind, running_backend
from experiment_entries import NAME, journal, write_journal
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
