"""/openapi.json, /docs and the field catalogue; problem documents for errors on any route.

/docs is one plain page without scripts. Each route documents the problems it can return.
"""

import logging
from collections.abc import Iterable
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import FieldCatalogue, Problem, ProblemType
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.message import build_validators
from tidscope_wire.problems import MEDIA_TYPE, PREFIX, ProblemError, make_problem, refusal

from tidscope_backend.security.access import SAFE
from tidscope_backend.security.audit import note
from tidscope_backend.security.rights import is_costly, rights_of
from tidscope_backend.text import describe
from tidscope_backend.web import SECURITY_HEADERS, method_not_allowed, not_found, problem_response

PROBLEM_KINDS = "x-tidscope-problems"
"""OpenAPI operation member: kinds in problems.json that the operation can return."""
METHODS = ("get", "post", "patch", "put", "delete")
PICK_HOST: tuple[ProblemType, ...] = ("unknown-host", "no-collector", "bad-request")
"""Problems of routes that take a host ID."""
ASK_COLLECTOR: tuple[ProblemType, ...] = ("no-collector", "collector-timeout")
"""Problems of routes that send a command to a collector, besides the collector's refusals."""
FIND_ATTACHED: tuple[ProblemType, ...] = ("unknown-target", "target-exited")
READ_RUN: tuple[ProblemType, ...] = ("unknown-run", "bad-run")
WRITE_RUNS: tuple[ProblemType, ...] = ("disk-full", "runs-unavailable")

# FastAPI needs them for the routes, and takes several times longer if it has to build their parts.
build_validators()


def raises(*kinds: ProblemType) -> dict[str, Any]:
    """Return a route's openapi_extra, listing the problems that its handler raises.

    Problems of the shared layers (session, origin, body limit) are added automatically.
    """
    return {PROBLEM_KINDS: list(kinds)}


class DocumentedApp(FastAPI):
    """FastAPI application whose document describes problem responses."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, built once and without FastAPI's validation error schemas."""
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
    """Yield problems raised before a route is reached, or by an error in the route."""
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


def docs_router() -> APIRouter:
    """Make the route."""
    routes = APIRouter()

    @routes.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        schema = request.app.openapi()
        rows = [
            f"<tr><td><code>{method.upper()}</code></td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(str(operation.get('summary', '')))}</td></tr>"
            for path, operations in schema["paths"].items()
            for method, operation in operations.items()
            if method in METHODS
        ]
        title = escape(f"{schema['info']['title']} {schema['info']['version']}")
        return HTMLResponse(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f"<h1>{title}</h1><p>{escape(schema['info']['description'])}</p>"
            '<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>'
            "<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></html>"
        )

    return routes


_log = logging.getLogger(__name__)
_HIDDEN = frozenset({"token"})


def add_error_handlers(app: FastAPI) -> None:
    """Register the error handlers."""

    @app.exception_handler(ProblemError)
    async def refused(request: Request, error: ProblemError) -> Response:
        kind = error.problem.type.removeprefix(PREFIX)
        note(request.scope, problem=kind, detail=error.problem.detail)
        return problem_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        errors = error.errors()
        malformed = any(record["type"] == "json_invalid" for record in errors)
        document = make_problem(
            "bad-request",
            describe(errors, _HIDDEN),
            f"/openapi.json says what {request.method} {request.url.path} takes",
            status=400 if malformed else None,
        )
        return problem_response(ProblemError(document))

    @app.exception_handler(HTTPException)
    async def routing(request: Request, error: HTTPException) -> Response:
        path, method = request.url.path, request.method
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "")
            return problem_response(method_not_allowed(method, path, allowed))
        if error.status_code == 404:
            return problem_response(not_found(path))
        document = make_problem(
            "bad-request", str(error.detail), "see /openapi.json", status=error.status_code
        )
        return problem_response(ProblemError(document))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        response = problem_response(
            refusal(
                "internal",
                f"{request.method} {request.url.path} failed: {type(error).__name__}",
                "the backend's log has the details; this is an error of tidscope, please report it",
            )
        )
        response.headers.update(SECURITY_HEADERS)
        return response


def fields_router() -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["fields"])

    @routes.get("/fields", summary="What is measured, in which unit, how exactly")
    async def fields() -> FieldCatalogue:
        return CATALOGUE

    return routes
