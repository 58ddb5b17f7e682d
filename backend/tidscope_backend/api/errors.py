"""Whatever goes wrong on a route is answered with a problem document."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from tidscope_wire.problems import PREFIX, ProblemError, make_problem, refusal

from tidscope_backend.security.audit import note
from tidscope_backend.validation import describe
from tidscope_backend.web import SECURITY_HEADERS, method_not_allowed, not_found, problem_response

_log = logging.getLogger(__name__)
_HIDDEN = frozenset({"token"})


def add_error_handlers(app: FastAPI) -> None:
    """Register them."""

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
