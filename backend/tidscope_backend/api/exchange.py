"""/api/v1/runs/{id}/export and /api/v1/runs/import: runs leave, and come from elsewhere."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request, status
from fastapi.responses import StreamingResponse
from tidscope_wire.generated.models import RunManifest
from tidscope_wire.problems import refusal

from tidscope_backend.api.compare import Finder
from tidscope_backend.api.openapi import READ_RUN, WRITE_RUNS, binary, raises
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, unwritable

Format = Literal["folder", "parquet", "csv", "trace", "pools-parquet", "pools-csv"]
KINDS: dict[Format, tuple[str, str]] = {
    "folder": ("tar.zst", "application/zstd"),
    "parquet": ("parquet", "application/vnd.apache.parquet"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "trace": ("trace.json", "application/json"),
    "pools-parquet": ("pools.parquet", "application/vnd.apache.parquet"),
    "pools-csv": ("pools.csv", "text/csv; charset=utf-8"),
}
"""Ending of the file's name, and media type."""
RUN_IMPORT_PATH = "/runs/import"
MAX_IMPORTS = 2
"""At once."""


def export_router(find: Finder, disk: Disk) -> APIRouter:
    """Make the route that reads."""
    routes = APIRouter(tags=["runs"])

    @routes.get(
        "/runs/{run_id}/export",
        summary="A run as a file: folder (.tar.zst), parquet, csv or trace (Chrome, Perfetto); "
        "its pools of workers as parquet or csv",
        response_class=StreamingResponse,
        responses={200: binary(*(media_type for _, media_type in KINDS.values()))},
        openapi_extra=raises(*READ_RUN),
    )
    async def export(run_id: str, request: Request, format: Format = "folder") -> StreamingResponse:
        ending, media_type = KINDS[format]
        hide = not principal_of(request.scope).sees_arguments
        content = await disk.read(_started, find, run_id, format, hide)
        return StreamingResponse(
            disk.iterate(content),
            media_type=media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{run_id}.{ending}"',
                "Cache-Control": "no-store",
            },
        )

    return routes


def import_router(make: Callable[[], Path], taken: Callable[[str], bool], disk: Disk) -> APIRouter:
    """Make the route that writes.

    Args:
        make: makes the folder of all runs if it is not there; raises ProblemError.
        taken: whether an id is not free.
        disk: whose threads write.
    """
    routes = APIRouter(tags=["runs"])
    at_once = asyncio.Semaphore(MAX_IMPORTS)

    @routes.post(
        RUN_IMPORT_PATH,
        status_code=status.HTTP_201_CREATED,
        summary="Bring in a run that was exported as a folder; the body is the .tar.zst",
        openapi_extra={
            "requestBody": {**binary("application/zstd"), "required": True},
            **raises("bad-run", "too-many-actions", *WRITE_RUNS),
        },
    )
    async def import_(request: Request) -> RunManifest:
        if at_once.locked():
            raise refusal(
                "too-many-actions",
                f"{MAX_IMPORTS} runs are being brought in already",
                "wait until they are done",
            )
        async with at_once:
            runs = await disk.write(make)
            archive = runs / f".import-{secrets.token_hex(8)}.tar.zst"
            try:
                await _save(request, archive, disk)
                manifest = await disk.write(_imported, archive, runs, taken)
                note(request.scope, manifest.id, name=manifest.name)
                return manifest
            except OSError as error:
                raise unwritable(runs, error) from None
            finally:
                await disk.write(archive.unlink, missing_ok=True)

    return routes


async def _save(request: Request, archive: Path, disk: Disk) -> None:
    """Write a body to a file as it comes; the disk may be slow, and frames come in meanwhile."""
    file = await disk.write(archive.open, "xb")
    try:
        async for chunk in request.stream():
            await disk.write(file.write, chunk)
    finally:
        await disk.write(file.close)


def _started(find: Finder, run_id: str, format: Format, hide: bool) -> Iterator[bytes]:
    """The file's bytes; made up to the first of them, so that a refusal can still be sent."""
    from tidscope_backend.exchange.formats import MAKERS

    try:
        content = MAKERS[format](find(run_id).path, hide)
        return chain([next(content)], content)
    except (OSError, ValueError, StopIteration) as error:
        detail = f"run {run_id} cannot be read: {error}"
        raise refusal("bad-run", detail, "the list of runs marks damaged ones") from None


def _imported(archive: Path, runs: Path, taken: Callable[[str], bool]) -> RunManifest:
    from tidscope_backend.exchange.importing import import_run
    from tidscope_backend.exchange.unpacking import BadArchiveError

    try:
        return import_run(archive, runs, taken)
    except BadArchiveError as error:
        hint = "choose a .tar.zst file that tidscope exported, unchanged"
        raise refusal("bad-run", f"the archive is not a run: {error}", hint) from None
