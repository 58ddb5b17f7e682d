"""/api/v1/experiments: experiments that `tidscope experiment` carries out beside the runs."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from tidscope_wire.generated.models import Experiment, ExperimentsResponse
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import raises
from tidscope_backend.experiments.journal import FOLDER, ID
from tidscope_backend.hidden_arguments import experiment_without
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk

ExperimentId = Annotated[str, InPath(pattern=ID.pattern)]


def router(runs: Path | None, disk: Disk) -> APIRouter:
    """Make the routes.

    Args:
        runs: the runs directory; None: there is none.
        disk: whose threads read journals.
    """
    routes = APIRouter(prefix="/experiments", tags=["experiments"])

    @routes.get("", summary="Experiments, and how far they are")
    async def experiments() -> ExperimentsResponse:
        return await disk.read(_listed, runs)

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


def _listed(runs: Path | None) -> ExperimentsResponse:
    from tidscope_backend.experiments.analysis import listed

    return listed(runs)


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
