"""Problem documents as HTTP answers."""

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send
from tidscope_wire.problems import MEDIA_TYPE, ProblemError, make_problem, refusal


def problem_response(refused: ProblemError) -> Response:
    """Make the answer to a refused request."""
    headers = dict(refused.headers)
    if refused.problem.status == 401:
        headers.setdefault("WWW-Authenticate", "Bearer")
    return Response(
        refused.problem.model_dump_json(),
        status_code=refused.problem.status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )


async def send_problem(refused: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer from a middleware."""
    await problem_response(refused)(scope, receive, send)


def not_found(path: str) -> ProblemError:
    """The refusal of an unknown path."""
    return refusal("not-found", f"there is nothing at {path}", "/openapi.json lists what there is")


def method_not_allowed(method: str, path: str, allowed: str) -> ProblemError:
    """The refusal of a method that a path does not support.

    Args:
        method: that was used.
        path: of the request.
        allowed: methods that it supports, as for the Allow header; empty if unknown.
    """
    document = make_problem(
        "method-not-allowed",
        f"{path} does not take {method}",
        f"it takes {allowed}" if allowed else "/openapi.json lists what it takes",
    )
    return ProblemError(document, {"Allow": allowed} if allowed else {})
