"""/api/v1/predictions: the models of the prediction service on the backend's host.

Owner and name of a request go to the service in a message, and nowhere else.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Request
from pydantic import ValidationError
from tidscope_predictd.client import Connection, ServiceError, connect
from tidscope_predictd.messages import NAME, OWN, Open, Reset
from tidscope_wire.generated.models import PredictionModel, PredictionService, PredictionWeights
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import raises
from tidscope_backend.security.audit import note

Owner = Annotated[int, Path(ge=0, lt=OWN)]
Name = Annotated[str, Path(pattern=f"^{NAME.pattern}$", max_length=64)]
Result = TypeVar("Result")
HINT = "See tidscope predictd --list; --administrator of the service may reset what others own."


def router(socket: FilePath) -> APIRouter:
    """Make the routes.

    Args:
        socket: of the service.
    """
    routes = APIRouter(prefix="/predictions", tags=["predictions"])

    @routes.get("", summary="The prediction service and its models")
    async def models() -> PredictionService:
        return await asyncio.to_thread(_service, socket)

    @routes.get(
        "/{owner}/{name}",
        summary="The weights of a model",
        openapi_extra=raises("bad-request", "prediction-refused"),
    )
    async def weights(owner: Owner, name: Name) -> PredictionWeights:
        return await asyncio.to_thread(_of_model, socket, owner, name, _weights)

    @routes.post(
        "/{owner}/{name}/reset",
        summary="Let a model forget everything",
        openapi_extra=raises("bad-request", "prediction-refused"),
    )
    async def reset(owner: Owner, name: Name, request: Request) -> PredictionService:
        note(request.scope, object=f"{owner}/{name}")
        await asyncio.to_thread(_of_model, socket, owner, name, _reset)
        return await asyncio.to_thread(_service, socket)

    return routes


def _service(socket: FilePath) -> PredictionService:
    try:
        connection = connect(socket)
        try:
            found = connection.models()
        finally:
            connection.close()
        models = [PredictionModel.model_validate(one) for one in found]
        return PredictionService(reason=None, models=models)
    except (ServiceError, ValidationError) as error:
        reason = str(error) if isinstance(error, ServiceError) else "its list cannot be read"
        return PredictionService(reason=reason, models=[])


def _of_model(
    socket: FilePath, owner: int, name: str, work: Callable[[Connection, int, bytes], Result]
) -> Result:
    """Open a model and do something with it, its handle and its weights.

    Raises:
        ProblemError: the service refused, or does not answer.
    """
    try:
        connection = connect(socket)
        try:
            handle, memory = connection.open(Open(name, owner))
            weights = bytes(memory.weights)
            memory.close()
            return work(connection, handle, weights)
        finally:
            connection.close()
    except ServiceError as error:
        raise refusal("prediction-refused", f"{name} of user {owner}: {error}", HINT) from error


def _weights(_: Connection, __: int, weights: bytes) -> PredictionWeights:
    return PredictionWeights(weights=list(memoryview(weights).cast("b")))


def _reset(connection: Connection, handle: int, _: bytes) -> None:
    connection.ask(Reset(handle, ()))
