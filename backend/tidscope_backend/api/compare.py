"""/api/v1/compare and /api/v1/experiments: comparisons of runs, and experiments."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from fastapi import Path as InPath
from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    CompareSplit,
    Comparison,
    Experiment,
    ExperimentChild,
    ExperimentsResponse,
    StartExperimentRequest,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import READ_RUN, raises
from tidscope_backend.comparison.sides import ComparisonError
from tidscope_backend.experiments.child import ExperimentProcess, startable
from tidscope_backend.experiments.journal import FOLDER, ID
from tidscope_backend.hidden_arguments import comparison_without, experiment_without
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, SharedReads
from tidscope_backend.store.folder import RunFolder

MAX_CORRECTIONS = 256
HINT = (
    "see docs/runs.md: runs=A,B+C or A@FROM-TO,A@FROM-TO&basis=rates|totals&split=none|process"
    "&align=start|policy|mark&mark=TEXT&match=RUN:ROLE=LABEL"
)
Finder = Callable[[str], RunFolder]
"""Find the folder of a run by its ID. Raises ProblemError."""


def compare_router(find: Finder, disk: Disk) -> APIRouter:
    """Make the route; runs are read in the disk's threads."""
    routes = APIRouter(tags=["runs"])
    # One comparison at a time: each takes a core and memory. Viewers have a separate queue.
    turns = {True: asyncio.Lock(), False: asyncio.Lock()}
    shared: SharedReads[str] = SharedReads()

    @routes.get(
        "/compare",
        summary="Compare runs or windows: commas separate groups, + joins the runs of a group",
        response_model=Comparison,
        openapi_extra=raises(*READ_RUN, "bad-request"),
    )
    async def compare(
        request: Request,
        runs: Annotated[str, Query(max_length=400)],
        align: AlignKind = "start",
        basis: CompareBasis = "rates",
        split: CompareSplit = "none",
        mark: Annotated[str | None, Query(max_length=200)] = None,
        match: Annotated[list[str] | None, Query(max_length=MAX_CORRECTIONS)] = None,
    ) -> Response:
        # A "+" in a query string means a space unless it is escaped as %2B.
        groups = [group.replace("+", " ").split() for group in runs.split(",")]
        sees = principal_of(request.scope).sees_arguments
        turn = turns[sees]

        async def computed() -> str:
            async with turn:
                return await disk.read(
                    _compared, find, groups, align, mark, match or [], basis, split, sees
                )

        asked = (runs, align, basis, split, mark, tuple(match or ()), sees)
        text = await shared.get(asked, computed)
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return routes


def _compared(
    find: Finder,
    groups: list[list[str]],
    align: AlignKind,
    mark: str | None,
    match: list[str],
    basis: CompareBasis,
    split: CompareSplit,
    sees_arguments: bool,
) -> str:
    from tidscope_backend.comparison.from_folders import compare_folders
    from tidscope_backend.comparison.sides import Side, split_window

    def side_of(text: str) -> Side:
        run, window = split_window(text)
        return Side(find(run).path, window)

    try:
        sides = [[side_of(text) for text in group] for group in groups]
        found = compare_folders(sides, align, mark, match, basis, split)
        return (found if sees_arguments else comparison_without(found)).model_dump_json()
    except ComparisonError as error:
        raise refusal("bad-request", str(error), HINT) from None
    except (OSError, ValueError) as error:
        detail = f"a run cannot be read: {error}"
        raise refusal("bad-run", detail, "the list of runs marks damaged ones") from None


ExperimentId = Annotated[str, InPath(pattern=ID.pattern)]


def experiments_router(
    runs: Path | None, folders: Sequence[Path], process: ExperimentProcess, disk: Disk
) -> APIRouter:
    """Make the routes.

    Args:
        runs: the runs directory, or None if runs are not stored.
        folders: folders of files that may be started.
        process: the experiment that the backend carries out.
        disk: threads in which journals and files are read.
    """
    routes = APIRouter(prefix="/experiments", tags=["experiments"])

    @routes.get("", summary="Experiments, and how far they are")
    async def experiments(request: Request) -> ExperimentsResponse:
        child = process.child
        if child is not None and not principal_of(request.scope).sees_arguments:
            child = child.model_copy(update={"messages": []})
        return await disk.read(_listed, runs, folders, child)

    @routes.post(
        "",
        status_code=status.HTTP_201_CREATED,
        summary="Start an experiment of a configured folder",
        openapi_extra=raises("unknown-experiment", "experiment-running", "audit-failed"),
    )
    async def start(body: StartExperimentRequest, request: Request) -> ExperimentChild:
        note(request.scope, body.name, preset=body.preset)
        return await process.start(body.name, body.preset, request.scope["server"])

    @routes.delete(
        "",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="End the experiment that was started here",
    )
    async def end() -> None:
        await process.stop()

    @routes.get(
        "/{experiment_id}",
        summary="One experiment, with its figures and charts",
        openapi_extra=raises("unknown-experiment", "bad-request"),
    )
    async def experiment(experiment_id: ExperimentId, request: Request) -> Experiment:
        found = await disk.read(_found, runs, experiment_id)
        sees = principal_of(request.scope).sees_arguments
        return found if sees else experiment_without(found)

    return routes


def _listed(
    runs: Path | None, folders: Sequence[Path], child: ExperimentChild | None
) -> ExperimentsResponse:
    from tidscope_backend.experiments.analysis import listed

    experiments, damaged = listed(runs)
    return ExperimentsResponse(
        experiments=experiments, damaged=damaged, files=startable(folders), child=child
    )


def _found(runs: Path | None, experiment_id: str) -> Experiment:
    from tidscope_backend.experiments.analysis import found
    from tidscope_backend.experiments.workload import ExperimentError

    try:
        if runs is None:
            raise ExperimentError("this backend has no folder for runs")
        return found(runs / FOLDER / experiment_id)
    except ExperimentError as error:
        raise refusal(
            "unknown-experiment", str(error), "choose one from the list of experiments"
        ) from None
