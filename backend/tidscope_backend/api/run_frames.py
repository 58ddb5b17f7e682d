"""GET /runs/{run}/frames: a run as the frames that a page gets live."""

from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from tidscope_wire.generated.limits import MAX_RUN_FRAMES

from tidscope_backend.api.openapi import READ_RUN, binary, raises
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.open_part import pack_frame
from tidscope_backend.store.reader import RunReader

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
        from_ns: Time = None,
        to_ns: Time = None,
        instants: Annotated[int, Query(ge=1, le=MAX_RUN_FRAMES)] = 600,
    ) -> StreamingResponse:
        """Frames of a stretch, each with its length before it; coalesced to about so many."""
        reader = await disk.read(open_run, run)
        return StreamingResponse(
            disk.iterate(_packed(reader, from_ns, to_ns, instants)),
            media_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store"},
        )

    return made


def _packed(
    reader: RunReader, from_ns: int | None, to_ns: int | None, instants: int
) -> Iterator[bytes]:
    for frame in frames_between(reader, from_ns, to_ns, instants):
        yield pack_frame(frame)
