"""/api/v1/ring: what the ring of this host has, and runs that are cut out of it."""

import time
from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter, Request, status
from tidscope_wire.generated.models import RingCut, RingResponse, RingTrack, RunManifest
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import WRITE_RUNS, raises
from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.hidden_arguments import target_without
from tidscope_backend.processes import run_module
from tidscope_backend.ring.listing import FOLDER, ring_tracks
from tidscope_backend.ring.status import RingStatus
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, unwritable
from tidscope_backend.store.folder import new_run_id
from tidscope_backend.store.run_store import RunStore

CUT_SECONDS = 600.0
"""Timeout for cutting a run, in seconds."""
CUTTING = "tidscope_backend.ring.cutting"


def ring_router(
    runs_dir: Path | None, status_of: Callable[[], RingStatus | None], store: RunStore, disk: Disk
) -> APIRouter:
    """Make the routes.

    Args:
        runs_dir: the runs directory; None if this backend stores no runs.
        status_of: returns what the process that writes the ring says; None without one.
        store: the stored runs.
        disk: threads in which the ring is read.
    """
    routes = APIRouter(prefix="/ring", tags=["runs"])

    async def tracks() -> list[RingTrack]:
        return [] if runs_dir is None else await disk.read(ring_tracks, runs_dir / FOLDER)

    @routes.get("", summary="Targets whose last minutes the ring of this host has")
    async def ring(request: Request) -> RingResponse:
        found, status = await tracks(), status_of()
        if not principal_of(request.scope).sees_arguments:
            found = [one.model_copy(update={"target": target_without(one.target)}) for one in found]
        return RingResponse(
            on=status is not None and status.pid > 0,
            max_age_s=None if status is None else status.max_age_s,
            max_bytes=None if status is None else status.max_bytes,
            bytes=sum(one.bytes for one in found),
            lost=0 if status is None else status.lost,
            disk_full=status is not None and status.disk_full > 0,
            tracks=found,
        )

    @routes.post(
        "/cuts",
        status_code=status.HTTP_201_CREATED,
        summary="Make a run of a window of a target in the ring",
        openapi_extra=raises("unknown-target", "bad-request", "bad-run", *WRITE_RUNS),
    )
    async def cut(body: RingCut, request: Request) -> RunManifest:
        note(request.scope, body.track)
        track = next((one for one in await tracks() if one.id == body.track), None)
        if track is None or runs_dir is None:
            raise refusal(
                "unknown-target", f"the ring has no track {body.track}", "choose one that it lists"
            )
        if body.to_unix_us < track.from_unix_us or body.from_unix_us > track.to_unix_us:
            raise refusal(
                "bad-request", "the ring has no frame of this window", "choose one that it lists"
            )
        run_id = new_run_id(time.time())
        window = (str(body.from_unix_us), str(body.to_unix_us))
        folder = str(runs_dir / FOLDER / track.id)
        arguments = (folder, str(runs_dir), *window, run_id, body.name or "")
        try:
            await run_in_background(run_module(CUTTING, *arguments), CUT_SECONDS, is_awaited=True)
        except ProgramFailedError as error:
            raise refusal("bad-run", f"no run was cut: {error}", "try a shorter window") from None
        except OSError as error:
            raise unwritable(runs_dir, error) from None
        manifest = await store.manifest(run_id)
        note(request.scope, manifest.id, name=manifest.name, target=manifest.target.id)
        return manifest

    return routes
