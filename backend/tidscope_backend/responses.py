"""Problem documents as HTTP answers."""

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send
from tidscope_wire.problems import MEDIA_TYPE, ProblemError


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
