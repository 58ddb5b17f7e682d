"""Refusals as RFC 9457 problem documents; problems.json has kinds, statuses and titles."""

from tidscope_wire.generated.models import Problem, ProblemType
from tidscope_wire.generated.problems import PROBLEMS

PREFIX = "urn:tidscope:problem:"
MEDIA_TYPE = "application/problem+json"


class ProblemError(Exception):
    """Rejection of a request or command.

    Attributes:
        problem: the document in the answer.
        headers: HTTP headers that belong to it, such as Retry-After.
    """

    def __init__(self, problem: Problem, headers: dict[str, str] | None = None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.headers = headers or {}


def make_problem(kind: ProblemType, detail: str, hint: str, status: int | None = None) -> Problem:
    """Make a problem document.

    Args:
        kind: kind in problems.json, which gives status and title.
        detail: what was wrong in this case, with the value.
        hint: how to fix it.
        status: HTTP status, if it differs from the kind's (a malformed body is 400, not 422).
    """
    row = PROBLEMS[kind]
    return Problem(
        type=PREFIX + kind,
        title=row.title,
        status=status or row.status,
        detail=detail,
        hint=hint,
    )


def refusal(kind: ProblemType, detail: str, hint: str, **headers: str) -> ProblemError:
    """Make an exception of a problem; headers are given as `retry_after="5"`."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return ProblemError(make_problem(kind, detail, hint), named)
