"""Viewers see no arguments and no output of programs, whatever they ask for."""

import io
import json
import re
import tarfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from answering_collector import answering_collector
from backend_builders import TARGET_ID, process, target
from backend_server import Backend, running_backend
from experiment_entries import NAME as EXPERIMENT
from experiment_entries import journal, write_journal
from live_page import LivePage
from run_builders import outcome
from scripted_run import FIELDS, write_run
from tidscope_backend.experiments.journal import Failed
from tidscope_backend.hidden_arguments import HIDDEN
from tidscope_backend.security.rights import ROUTES
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import LiveState

SECRET = "the-argument-of-somebody"
RUNS = [f"r-20261121-120000-{number:06x}" for number in (1, 2)]

TRACE = "ab" * 16


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    for number in (1, 2):
        program = process().model_copy(update={"command": f"work {SECRET} {number}"})
        write_run(
            tmp_path / "runs",
            number,
            target=target().model_copy(update={"process": program, "fields": list(FIELDS)}),
            outcome=outcome(command=["work", SECRET], output_tail=f"wrote {SECRET}"),
        )
    failed = Failed("size=1", 1, 1.0, f"it ended: {SECRET}")
    write_journal(tmp_path / "runs", [*journal([({"size": 1}, [1.0])]), failed])
    spans = SpanStore(
        lambda: tmp_path / "runs", tmp_path / "runs", SpanRetention(None, None), time.time
    )
    spans.add([Span(TRACE, "1" * 16, "", "shop", "GET", 1, 9, attributes={"query": SECRET})])
    spans.close()
    async with running_backend(runs_dir=tmp_path / "runs", web_dir=tmp_path) as running:
        yield running


MODEL = "/api/v1/predictions/{owner}/{name}"
"""Weights of a prediction model: numbers only, and no service of them runs here."""

FILES_OF_STACKS = {
    "/api/v1/targets/{target_id}/stacks/export",
    "/api/v1/runs/{run}/stacks/export",
}
"""Refused here, where nothing has stacks; test_stacks_http.py has them."""


def paths() -> list[str]:
    """Every route that a viewer may read, with names that are there."""
    found = [
        path
        for (method, path), right in ROUTES.items()
        if (method, right) == ("GET", "viewer") and path != MODEL and path not in FILES_OF_STACKS
    ]
    exports = [
        f"/api/v1/runs/{{run_id}}/export?format={kind}"
        for kind in ("parquet", "csv", "trace", "pools-parquet", "pools-csv")
    ]
    named = {
        "{run_id}": RUNS[0],
        "{run}": RUNS[0],
        "{target_id}": TARGET_ID,
        "{experiment_id}": EXPERIMENT,
        "{trace_id}": TRACE,
    }
    filled = []
    for template in (*found, *exports, "/metrics"):
        path = re.sub(r"\{\w+\}", lambda name: named[name[0]], template)
        asked = {
            "/api/v1/compare": f"?runs={','.join(RUNS)}",
            "/api/v1/steering": "?pid=1",
            "/api/v1/stacks/difference": f"?before=target:{TARGET_ID}&after=run:{RUNS[0]}",
            **{
                f"/api/v1/traces/{one}": "?service=shop&operation=GET"
                for one in ("analysis", "difference", "heat", "days")
            },
        }
        filled.append(path + asked.get(path, ""))
    return filled


def text_of(answer: httpx.Response) -> str:
    """A body, unpacked if it is an archive, and with the metadata of a Parquet file."""
    if answer.headers["content-type"] == "application/zstd":
        with (
            pa.CompressedInputStream(pa.BufferReader(answer.content), "zstd") as stream,
            tarfile.open(fileobj=io.BytesIO(stream.read())) as archive,
        ):
            return "".join(
                file.read().decode("latin-1")
                for member in archive.getmembers()
                if (file := archive.extractfile(member)) is not None
            )
    return answer.content.decode("latin-1")


async def test_no_answer_to_a_viewer_has_arguments_or_output(backend: Backend) -> None:
    hostile = process().model_copy(update={"command": f"work {SECRET}"})
    seen: dict[str, tuple[bool, bool]] = {}
    async with (
        answering_collector(backend, hostile),
        backend.program() as operator,
        backend.viewer() as viewer,
    ):
        for path in paths():
            answers = [await client.get(path) for client in (operator, viewer)]
            assert {answer.status_code for answer in answers} == {200}, path
            whole, shown = (SECRET in text_of(answer) for answer in answers)
            seen[path] = whole, shown
    assert [path for path, (_, shown) in seen.items() if shown] == []
    # Operators see the arguments, so this test would find them.
    there = {
        path.partition("?")[0].rpartition("/")[2] for path, (whole, _) in seen.items() if whole
    }
    assert there == {
        *(
            "processes",
            "targets",
            TARGET_ID,
            "runs",
            RUNS[0],
            "export",
            TRACE,
            "compare",
            EXPERIMENT,
        )
    }


async def test_hidden_is_said(backend: Backend) -> None:
    async with answering_collector(backend), backend.viewer() as viewer:
        (first, _) = (await viewer.get("/api/v1/processes")).json()["processes"]
        assert (first["command"], first["name"], first["executable"]) == (
            *(None, "work", "/usr/bin/work"),
        )
        manifest = (await viewer.get(f"/api/v1/runs/{RUNS[0]}")).json()
        assert (manifest["outcome"]["command"], manifest["outcome"]["output_tail"]) == (None, None)
        found = (await viewer.get("/api/v1/compare", params={"runs": ",".join(RUNS)})).json()
        assert {"what": "command", "values": [HIDDEN, HIDDEN]} in found["setup"]
        trace = (await viewer.get(f"/api/v1/runs/{RUNS[0]}/export?format=trace")).json()
        assert trace["otherData"]["command"] == HIDDEN


async def test_what_a_viewer_exported_can_be_imported(backend: Backend) -> None:
    async with backend.viewer() as viewer, backend.program() as operator:
        archive = (await viewer.get(f"/api/v1/runs/{RUNS[0]}/export")).content
        answer = await operator.post("/api/v1/runs/import", content=archive)
        assert answer.status_code == 201
        assert answer.json()["outcome"]["command"] is None


async def test_pages_of_viewers_get_targets_without_arguments(backend: Backend) -> None:
    hostile = process().model_copy(update={"command": f"work {SECRET}"})
    async with (
        LivePage(backend.socket_url, backend.settings.view_token) as viewer,
        backend.page() as operator,
        answering_collector(backend, hostile),
        LivePage(backend.socket_url, backend.settings.view_token) as later,
    ):
        for page, commands in ((operator, [f"work {SECRET}"]), (viewer, [None]), (later, [None])):
            state = await page.text(LiveState)
            while not state.targets:
                state = await page.text(LiveState)
            assert [each.process.command for each in state.targets] == commands
            assert (SECRET in json.dumps(state.model_dump(mode="json"))) == (page is operator)
