"""GET /runs/{run}/frames: a run as the frames that a page gets live."""

import math
from collections.abc import Callable, Iterator
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from tidscope_wire.generated.limits import MAX_RUN_FRAMES

from tidscope_backend.api.openapi import READ_RUN, binary, raises
from tidscope_backend.hidden_arguments import frame_without
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.open_part import pack_frame
from tidscope_backend.store.reader import RunReader

MAX_EXTREMES_ROWS = 200_000
"""Some 14 MB; above it a coarser level is sent."""
MEDIA_TYPE = "application/vnd.tidscope.frames"
Time = Annotated[int | None, Query(ge=0, lt=2**63)]


def router(open_run: Callable[[str], RunReader], disk: Disk) -> APIRouter:
    """Make the route.

    Args:
        open_run: finds a run by its id; raises ProblemError if there is none.
        disk: whose threads read.
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
        """Frames of a stretch, each with its length before it; coalesced to about so many."""
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
        """Least and greatest rates of a stretch, as an Arrow stream with its length before it.

        Nothing, if the run has no overview: it is being recorded, or is short.
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
