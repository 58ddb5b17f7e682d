"""/api/v1/ring: what the ring of a host has, and runs that are cut out of it."""

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from fastapi import APIRouter, Request, status
from tidscope_wire.generated.limits import MAX_IMPORT_BYTES
from tidscope_wire.generated.models import RingCut, RingResponse, RingTrack, RunManifest
from tidscope_wire.problems import PREFIX, ProblemError, refusal

from tidscope_backend.api.openapi import ASK_COLLECTOR, WRITE_RUNS, raises
from tidscope_backend.api.run_imports import RunImports
from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.hidden_arguments import target_without
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.processes import run_module
from tidscope_backend.ring.listing import FOLDER, ring_response, ring_tracks, track_of_cut
from tidscope_backend.ring.status import RingStatus
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, unwritable
from tidscope_backend.store.folder import new_run_id
from tidscope_backend.store.run_store import RunStore

CUT_SECONDS = 600.0
"""Timeout for cutting a run, in seconds."""
CUTTING = "tidscope_backend.ring.cutting"
WITHOUT_RING = tuple(
    PREFIX + kind for kind in ("no-ring", "no-collector", "unknown-host", "bad-request")
)
"""Refusals of hosts that have no ring for others: of older versions, and disconnected ones, too."""


class OwnRing:
    """The ring of this host.

    Args:
        runs_dir: the runs directory; None if this backend stores no runs.
        status_of: returns what the process that writes the ring says; None without one.
        store: the stored runs.
        disk: threads in which the ring is read.
    """

    def __init__(
        self,
        runs_dir: Path | None,
        status_of: Callable[[], RingStatus | None],
        store: RunStore,
        disk: Disk,
    ) -> None:
        self._runs_dir, self._status_of, self._store, self._disk = runs_dir, status_of, store, disk

    async def tracks(self) -> list[RingTrack]:
        """Return its tracks, newest first."""
        if self._runs_dir is None:
            return []
        return await self._disk.read(ring_tracks, self._runs_dir / FOLDER)

    async def ring(self, host: str | None) -> RingResponse:
        """Describe it; of a named host, only its part."""
        tracks = await self.tracks()
        if host is None:
            return ring_response(self._status_of(), tracks)
        own = [one for one in tracks if one.target.host == host]
        return ring_response(self._status_of() if own else None, own)

    async def cut(self, body: RingCut, tracks: list[RingTrack]) -> RunManifest:
        """Make a run of a window. Raises ProblemError."""
        track, runs = track_of_cut(tracks, body), self._runs_dir
        if runs is None:
            raise refusal("runs-unavailable", "no runs are stored here", "name a runs directory")
        run_id = new_run_id(time.time())
        window = (str(body.from_unix_us), str(body.to_unix_us))
        arguments = (str(runs / FOLDER / track.id), str(runs), *window, run_id, body.name or "")
        try:
            await run_in_background(run_module(CUTTING, *arguments), CUT_SECONDS, is_awaited=True)
        except ProgramFailedError as error:
            raise refusal("bad-run", f"no run was cut: {error}", "try a shorter window") from None
        except OSError as error:
            raise unwritable(runs, error) from None
        return await self._store.manifest(run_id)


async def pieces_of_cut(link: CollectorLink, cut: RingCut) -> AsyncIterator[bytes]:
    """Have a host cut a run, and yield its archive.

    Raises:
        ProblemError: the host refused, or its archive is too large or incomplete.
    """
    made = await link.cut_ring(cut)
    if made.bytes > MAX_IMPORT_BYTES:
        raise refusal(
            "too-large", f"the window has {made.bytes:,} bytes", "choose a shorter window"
        )
    offset = 0
    while offset < made.bytes:
        piece = await link.read_cut(made.cut, offset)
        if not piece:
            raise refusal(
                "bad-run", f"{link.host.name} sent {offset:,} of {made.bytes:,} bytes", "try again"
            )
        yield piece
        offset += len(piece)


def ring_router(own: OwnRing, links: CollectorLinks, imports: RunImports) -> APIRouter:
    """Make the routes.

    Args:
        own: the ring of this host.
        links: connected hosts, some of which have a ring.
        imports: brings in what they cut.
    """
    routes = APIRouter(prefix="/ring", tags=["runs"])

    async def of_host(host: str | None) -> RingResponse:
        if host is not None:
            try:
                return await links.pick(host).ring()
            except ProblemError as error:
                if error.problem.type not in WITHOUT_RING:
                    raise
        return await own.ring(host)

    @routes.get(
        "",
        summary="Targets whose last minutes a ring has: that of this host, or of another one",
        openapi_extra=raises(*ASK_COLLECTOR),
    )
    async def ring(request: Request, host: str | None = None) -> RingResponse:
        found = await of_host(host)
        if principal_of(request.scope).sees_arguments:
            return found
        hidden = [
            one.model_copy(update={"target": target_without(one.target)}) for one in found.tracks
        ]
        return found.model_copy(update={"tracks": hidden})

    @routes.post(
        "/cuts",
        status_code=status.HTTP_201_CREATED,
        summary="Make a run of a window of a target in a ring; another host sends it",
        openapi_extra=raises(
            *("unknown-target", "bad-request", "bad-run", "no-ring", "too-large"),
            *("too-many-actions", "unknown-host", *ASK_COLLECTOR, *WRITE_RUNS),
        ),
    )
    async def cut(body: RingCut, request: Request) -> RunManifest:
        note(request.scope, body.track)
        tracks = await own.tracks()
        if body.host is None or any(one.id == body.track for one in tracks):
            manifest = await own.cut(body, tracks)
        else:
            manifest = await imports.bring(pieces_of_cut(links.pick(body.host), body))
        note(request.scope, manifest.id, name=manifest.name, target=manifest.target.id)
        return manifest

    return routes
