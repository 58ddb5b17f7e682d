"""/api/v1/runs: record, list, rename, delete and restore."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from tidscope_wire.generated.models import (
    RecordRequest,
    RunEventsResponse,
    RunManifest,
    RunPatch,
    RunsResponse,
)

from tidscope_backend.api.openapi import FIND_ATTACHED, READ_RUN, WRITE_RUNS, raises
from tidscope_backend.hidden_arguments import manifest_without, runs_without
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.run_store import RunStore


def router(recorder: Recorder, store: RunStore) -> APIRouter:
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
