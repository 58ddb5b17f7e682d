"""/api/v1/runs: record, list, rename, delete, restore, replay, export and import.

/api/v1/runs/{run}/frames replays a run as the frames of a live stream.
"""

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Query, Request, Response, status
from fastapi.responses import StreamingResponse
from tidscope_wire.generated.limits import MAX_RUN_FRAMES
from tidscope_wire.generated.models import (
    RecordRequest,
    RunEventsResponse,
    RunManifest,
    RunPatch,
    RunsResponse,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.compare import Finder
from tidscope_backend.api.openapi import FIND_ATTACHED, READ_RUN, WRITE_RUNS, raises
from tidscope_backend.api.run_imports import RunImports
from tidscope_backend.hidden_arguments import frame_without, manifest_without, runs_without
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.frame_files import pack_frame
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.run_store import RunStore
from tidscope_backend.web import binary


def runs_router(recorder: Recorder, store: RunStore) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/runs", tags=["runs"])

    @routes.get("", summary="Runs, those that can be restored, and what cannot be read")
    async def runs(request: Request) -> RunsResponse:
        listed = await store.runs()
        return listed if principal_of(request.scope).sees_arguments else runs_without(listed)

    @routes.post(
        "",
        status_code=status.HTTP_201_CREATED,
        summary="Record a target",
        openapi_extra=raises(
            *FIND_ATTACHED, *WRITE_RUNS, "unknown-host", "already-recording", "bad-request"
        ),
    )
    async def record(body: RecordRequest, request: Request) -> RunManifest:
        note(request.scope, body.target)
        manifest = await recorder.record(body)
        note(request.scope, manifest.id, name=manifest.name, target=body.target)
        return manifest

    @routes.get("/{run_id}", summary="One run", openapi_extra=raises(*READ_RUN))
    async def run(run_id: str, request: Request) -> RunManifest:
        manifest = await store.manifest(run_id)
        sees = principal_of(request.scope).sees_arguments
        return manifest if sees else manifest_without(manifest)

    @routes.patch(
        "/{run_id}",
        summary="Change its name, tags, group, notes, marks or outcome",
        openapi_extra=raises(*READ_RUN, *WRITE_RUNS),
    )
    async def change(run_id: str, patch: RunPatch, request: Request) -> RunManifest:
        note(request.scope, members=", ".join(sorted(patch.model_fields_set)))
        return await store.patch(run_id, patch)

    @routes.post(
        "/{run_id}/stop",
        summary="End its recording",
        openapi_extra=raises("unknown-run", "not-recording", *WRITE_RUNS),
    )
    async def stop(
        run_id: str,
        target_ended: Annotated[
            bool,
            Query(description="Its process has ended: the run lacks its last frames."),
        ] = False,
    ) -> RunManifest:
        return await recorder.stop(run_id, target_ended)

    @routes.delete(
        "/{run_id}",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="Delete it; it can be restored for an hour",
        openapi_extra=raises("unknown-run", "already-recording", *WRITE_RUNS),
    )
    async def delete(run_id: str) -> None:
        await store.delete(run_id)

    @routes.post(
        "/{run_id}/restore",
        summary="Bring it back",
        openapi_extra=raises(*READ_RUN, *WRITE_RUNS),
    )
    async def restore(run_id: str) -> RunManifest:
        return await store.restore(run_id)

    @routes.get(
        "/{run_id}/events",
        summary="What happened in it",
        openapi_extra=raises(*READ_RUN),
    )
    async def events(run_id: str) -> RunEventsResponse:
        return await store.events(run_id)

    return routes


MAX_EXTREMES_ROWS = 200_000
"""About 14 MB; larger answers use a coarser level."""
MEDIA_TYPE = "application/vnd.tidscope.frames"
Time = Annotated[int | None, Query(ge=0, lt=2**63)]


def run_frames_router(open_run: Callable[[str], RunReader], disk: Disk) -> APIRouter:
    """Make the route.

    Args:
        open_run: finds a run by its ID; raises ProblemError if the run is unknown.
        disk: threads in which runs are read.
    """
    made = APIRouter(tags=["runs"])

    @made.get(
        "/runs/{run}/frames",
        response_class=StreamingResponse,
        responses={200: binary(MEDIA_TYPE)},
        openapi_extra=raises(*READ_RUN),
    )
    async def frames(
        run: str,
        request: Request,
        from_ns: Time = None,
        to_ns: Time = None,
        instants: Annotated[int, Query(ge=1, le=MAX_RUN_FRAMES)] = 600,
    ) -> StreamingResponse:
        """Return length-prefixed frames of a time span, coalesced to about this many."""
        reader = await disk.read(open_run, run)
        hide = not principal_of(request.scope).sees_arguments
        return StreamingResponse(
            disk.iterate(_packed(reader, from_ns, to_ns, instants, hide=hide)),
            media_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store"},
        )

    @made.get(
        "/runs/{run}/extremes",
        response_class=StreamingResponse,
        responses={200: binary(MEDIA_TYPE)},
        openapi_extra=raises(*READ_RUN),
    )
    async def extremes(run: str, from_ns: Time = None, to_ns: Time = None) -> StreamingResponse:
        """Return least and greatest rates of a time span as a length-prefixed Arrow stream.

        The body is empty if the run has no overview because it is short or still recording.
        """
        reader = await disk.read(open_run, run)
        return StreamingResponse(
            disk.iterate(_extremes(reader, from_ns, to_ns)),
            media_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store"},
        )

    return made


def _extremes(reader: RunReader, from_ns: int | None, to_ns: int | None) -> Iterator[bytes]:
    overview = reader.overview
    if overview is None:
        return
    first, last = overview.parts[0].from_ns, overview.parts[-1].to_ns
    table = overview.extremes(
        first if from_ns is None else from_ns,
        last if to_ns is None else to_ns,
        MAX_EXTREMES_ROWS,
    ).drop_columns(["level"])
    floats = [name for name in table.column_names if table.schema.field(name).type == pa.float32()]
    for name in floats:
        filled = pc.fill_null(table[name], pa.scalar(math.nan, pa.float32()))
        table = table.set_column(table.column_names.index(name), name, filled)
    order = [(name, "ascending") for name in ("tid", "start_ns", "to_ns")]
    (batch,) = table.sort_by(order).combine_chunks().to_batches() or [_no_rows(table.schema)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    yield pack_frame(sink.getvalue().to_pybytes())


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)


def _packed(
    reader: RunReader, from_ns: int | None, to_ns: int | None, instants: int, *, hide: bool
) -> Iterator[bytes]:
    for frame in frames_between(reader, from_ns, to_ns, instants):
        yield pack_frame(frame_without(frame) if hide else frame)


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


def export_router(find: Finder, disk: Disk) -> APIRouter:
    """Make the export route."""
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


def import_router(imports: RunImports) -> APIRouter:
    """Make the import route."""
    routes = APIRouter(tags=["runs"])

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
        manifest = await imports.bring(request.stream())
        note(request.scope, manifest.id, name=manifest.name)
        return manifest

    return routes


def _started(find: Finder, run_id: str, format: Format, hide: bool) -> Iterator[bytes]:
    """Start iterating and wait for the first bytes, so that a refusal can still be sent."""
    from tidscope_backend.exchange.formats import MAKERS

    try:
        content = MAKERS[format](find(run_id).path, hide)
        return chain([next(content)], content)
    except (OSError, ValueError, StopIteration) as error:
        detail = f"run {run_id} cannot be read: {error}"
        raise refusal("bad-run", detail, "the list of runs marks damaged ones") from None
