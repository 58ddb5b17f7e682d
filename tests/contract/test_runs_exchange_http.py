"""Comparing, exporting and importing over HTTP."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from backend_server import Backend, running_backend
from scripted_run import write_run
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import Comparison, Problem, RunManifest

WAIT = 200
MAX_IMPORT = 256 * 1024


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    for number in (1, 2, 3):
        write_run(tmp_path / "runs", number)
    async with (
        asyncio.timeout(WAIT),
        running_backend(runs_dir=tmp_path / "runs", max_import_bytes=MAX_IMPORT) as running,
    ):
        yield running


def run_id(number: int) -> str:
    return f"r-20261121-120000-{number:06x}"


A, B, C = run_id(1), run_id(2), run_id(3)


def refused(answer: httpx.Response, status: int, kind: str) -> str:
    problem = Problem.model_validate_json(answer.content)
    assert (answer.status_code, problem.type) == (status, f"urn:tidscope:problem:{kind}")
    assert problem.hint
    return problem.detail


async def test_groups_alignment_and_corrections(backend: Backend) -> None:
    async with backend.viewer() as client:
        for runs in (f"{A},{B}+{C}", f"{A},{B}%2B{C}", f"{A},{B}%20{C}"):
            query = f"runs={runs}&align=mark&mark=x&match={B}:main=chief"
            answer = await client.get(f"/api/v1/compare?{query}")
            found = Comparison.model_validate_json(answer.raise_for_status().content)
            assert [group.runs for group in found.groups] == [[A], [B, C]]
    assert (found.align, found.mark) == ("mark", "x")
    assert {run.align_problem for run in found.runs} == {"it has no mark 'x'"}
    labels = [(role.label, role.manual) for role in found.roles]
    assert labels == [("main", False), ("worker-#", False), ("chief", True)]
    (cpu,) = [m for m in found.metrics if (m.metric, m.role) == ("cpu_run_ns", None)]
    # main: 24 · 50 ms; worker-1: 80 ms; worker-2, born and ended within: 450 ms; in 2.4 s.
    assert cpu.unit == "ns/s"
    assert [group.mean for group in cpu.groups] == pytest.approx([1.73e9 / 2.4] * 2)
    (reported,) = cpu.differences
    assert (reported.absolute, reported.method, reported.verdict) == (0, "none", "equal")


async def test_totals_are_compared_when_asked(backend: Backend) -> None:
    async with backend.viewer() as client:
        answer = await client.get(f"/api/v1/compare?runs={A},{B}&basis=totals")
    found = Comparison.model_validate_json(answer.raise_for_status().content)
    assert (found.basis, found.same_length) == ("totals", True)
    (cpu,) = [m for m in found.metrics if (m.metric, m.role) == ("cpu_run_ns", None)]
    assert (cpu.unit, [group.values for group in cpu.groups]) == ("ns", [[1.73e9], [1.73e9]])


REFUSED = [
    (f"runs={A}", 422, "bad-request", "2 to 8 runs"),
    ("runs=", 422, "bad-request", "2 to 8 runs"),
    (f"runs={A},", 422, "bad-request", "2 to 8 runs"),
    (f"runs={A},{A}", 422, "bad-request", "twice"),
    (f"runs={A},{run_id(9)}", 404, "unknown-run", run_id(9)),
    (f"runs={A},..%2F..%2Fetc", 404, "unknown-run", "etc"),
    (f"runs={A},{B}&align=middle", 422, "bad-request", "align"),
    (f"runs={A},{B}&basis=sums", 422, "bad-request", "basis"),
    (f"runs={A},{B}&align=mark", 422, "bad-request", "mark=TEXT"),
    (f"runs={A},{B}&match=nonsense", 422, "bad-request", "RUN:ROLE=LABEL"),
    (f"runs={A},{B}&match={B}:nobody=x", 422, "bad-request", "'nobody'"),
    (f"runs={'x' * 500}", 422, "bad-request", "runs"),
    ("", 422, "bad-request", "runs"),
]


async def test_what_cannot_be_compared(backend: Backend) -> None:
    async with backend.program() as client:
        for query, status, kind, detail in REFUSED:
            answer = await client.get(f"/api/v1/compare?{query}")
            assert detail in refused(answer, status, kind)


async def test_a_damaged_run_is_reported(backend: Backend, tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / B).signals(1).write_bytes(b"no parquet")
    async with backend.program() as client:
        answer = await client.get(f"/api/v1/compare?runs={A},{B}")
        assert "cannot be read" in refused(answer, 422, "bad-run")
        answer = await client.get(f"/api/v1/runs/{B}/export?format=csv")
        assert "cannot be read" in refused(answer, 422, "bad-run")


KINDS = {
    "folder": "tar.zst",
    "parquet": "parquet",
    "csv": "csv",
    "trace": "trace.json",
    "pools-parquet": "pools.parquet",
    "pools-csv": "pools.csv",
}


async def test_exports(backend: Backend, tmp_path: Path) -> None:
    data = {}
    async with backend.viewer() as client:
        for kind, ending in KINDS.items():
            answer = await client.get(f"/api/v1/runs/{A}/export?format={kind}")
            data[kind] = answer.raise_for_status().content
            name = f'attachment; filename="{A}.{ending}"'
            assert answer.headers["content-disposition"] == name
    rows = RunReader(tmp_path / "runs" / A).samples().num_rows
    assert pq.ParquetFile(io.BytesIO(data["parquet"])).metadata.num_rows == rows
    assert len(data["csv"].splitlines()) == rows + 1
    assert json.loads(data["trace"])["otherData"]["run"] == A
    assert data["folder"].startswith(b"\x28\xb5\x2f\xfd")  # The magic number of zstd, RFC 8878.


async def test_exports_that_are_not_there(backend: Backend) -> None:
    async with backend.program() as client:
        refused(await client.get(f"/api/v1/runs/{run_id(9)}/export"), 404, "unknown-run")
        refused(await client.get("/api/v1/runs/%2e%2e/export"), 404, "unknown-run")
        refused(await client.get(f"/api/v1/runs/{A}/export?format=zip"), 422, "bad-request")


async def test_import(backend: Backend, tmp_path: Path) -> None:
    async with backend.program() as client:
        archive = (await client.get(f"/api/v1/runs/{A}/export")).content
        assert len(archive) < MAX_IMPORT
        answer = await client.post("/api/v1/runs/import", content=archive)
        assert answer.status_code == 201, answer.text
        manifest = RunManifest.model_validate_json(answer.content)
        assert manifest.imported
        assert manifest.id != A
        # A deleted run can be restored, so its id is taken, too.
        assert (await client.delete(f"/api/v1/runs/{manifest.id}")).status_code == 204
        again = await client.get(f"/api/v1/compare?runs={A},{B}")
        assert again.status_code == 200
    async with backend.viewer() as client:
        answer = await client.post("/api/v1/runs/import", content=archive)
        refused(answer, 403, "view-only")
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert names == {A, B, C, ".deleted"}


async def test_import_of_what_is_none(backend: Backend, tmp_path: Path) -> None:
    async def of_unknown_length() -> AsyncIterator[bytes]:
        for _ in range(2 * MAX_IMPORT // 65536):
            yield b"x" * 65536

    async with backend.program() as client:
        answer = await client.post("/api/v1/runs/import", content=b"nothing of the kind")
        assert "zstd" in refused(answer, 422, "bad-run")
        answer = await client.post("/api/v1/runs/import", content=b"x" * (MAX_IMPORT + 1))
        refused(answer, 413, "too-large")
        answer = await client.post("/api/v1/runs/import", content=of_unknown_length())
        refused(answer, 413, "too-large")
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {A, B, C}
