"""/openapi.json: what FastAPI derives from the routes, and the problems that each can answer."""

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from tidscope_wire.generated.models import Problem, ProblemType
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.problems import MEDIA_TYPE

from tidscope_backend.security.access import SAFE
from tidscope_backend.security.rights import is_costly, rights_of

PROBLEM_KINDS = "x-tidscope-problems"
"""Member of an operation: kinds of problems.json that it can answer."""
METHODS = ("get", "post", "patch", "put", "delete")
PICK_HOST: tuple[ProblemType, ...] = ("unknown-host", "no-collector", "bad-request")
"""What a route raises that takes the id of a host."""
ASK_COLLECTOR: tuple[ProblemType, ...] = ("no-collector", "collector-timeout")
"""What a route raises that sends a command to a collector, besides the collector's refusals."""
FIND_ATTACHED: tuple[ProblemType, ...] = ("unknown-target", "target-exited")
READ_RUN: tuple[ProblemType, ...] = ("unknown-run", "bad-run")
WRITE_RUNS: tuple[ProblemType, ...] = ("disk-full", "runs-unavailable")


def raises(*kinds: ProblemType) -> dict[str, Any]:
    """A route's openapi_extra: the problems that it raises itself.

    What stands in front of all routes (session, origin, body limit) is added to them.
    """
    return {PROBLEM_KINDS: list(kinds)}


def binary(*media_types: str) -> dict[str, Any]:
    """A body, of request or answer, that is a file of one of these media types."""
    schema = {"type": "string", "format": "binary"}
    return {
        "content": {
            media_type: {"schema": {} if media_type == "application/json" else schema}
            for media_type in media_types
        }
    }


class DocumentedApp(FastAPI):
    """FastAPI with a document that says how requests are refused."""

    def openapi(self) -> dict[str, Any]:
        """Make the document once; FastAPI's own shape of validation errors is not in it."""
        if self.openapi_schema is None:
            self.openapi_schema = _document(self)
        return self.openapi_schema


def _document(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                _add_problems(operation, method.upper(), path)
    return made


def _add_problems(operation: dict[str, Any], method: str, path: str) -> None:
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    kinds = {*operation.get(PROBLEM_KINDS, ()), *_in_front(operation, method, path)}
    operation[PROBLEM_KINDS] = sorted(kinds)
    by_status: dict[int, list[ProblemType]] = {}
    for kind in sorted(kinds):
        by_status.setdefault(PROBLEMS[kind].status, []).append(kind)
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        by_status[400] = ["bad-request"]
    for status, of_status in sorted(by_status.items()):
        responses[str(status)] = _response(of_status)


def _in_front(operation: dict[str, Any], method: str, path: str) -> Iterable[ProblemType]:
    """What is raised before a route is reached, or by an error in it."""
    yield from ("forbidden-host", "internal")
    if method not in SAFE:
        yield from ("forbidden-origin", "too-large")
    right = rights_of(path).get(method)
    if right != "public":
        yield from ("unauthenticated", "too-many-attempts")
    if right == "operator":
        yield "view-only"
    if is_costly(method, path):
        yield "too-many-actions"
    asked = {parameter["in"] for parameter in operation.get("parameters", ())}
    if "query" in asked or "application/json" in operation.get("requestBody", {}).get(
        "content", {}
    ):
        yield "bad-request"


def _response(kinds: list[ProblemType]) -> dict[str, Any]:
    return {
        "description": "; ".join(f"`{kind}`: {PROBLEMS[kind].title}" for kind in kinds),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
