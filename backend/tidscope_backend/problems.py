"""Refusals as RFC 9457 problem documents: one table says what each kind is called and answers."""

from typing import NamedTuple

from tidscope_wire.generated.models import Problem, ProblemType

PREFIX = "urn:tidscope:problem:"
MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    """A kind of refusal: its HTTP status and its title."""

    status: int
    title: str


KINDS: dict[ProblemType, Kind] = {
    "bad-request": Kind(422, "The request is not valid"),
    "unauthenticated": Kind(401, "Not signed in"),
    "forbidden-origin": Kind(403, "The request comes from another site"),
    "forbidden-host": Kind(403, "The request names another host"),
    "unknown-process": Kind(404, "No such process"),
    "process-id-reused": Kind(409, "The process id belongs to another process now"),
    "not-permitted": Kind(403, "The kernel does not permit it"),
    "kernel-thread": Kind(422, "It is a kernel thread"),
    "target-exited": Kind(409, "The process has ended"),
    "too-many-targets": Kind(429, "Too many targets"),
    "unknown-target": Kind(404, "No such target"),
    "unknown-host": Kind(404, "No such host"),
    "no-collector": Kind(503, "No collector is connected"),
    "collector-timeout": Kind(504, "The collector did not answer in time"),
    "demo-failed": Kind(500, "The demo program could not be started"),
    "too-large": Kind(413, "The request is too large"),
    "too-many-attempts": Kind(429, "Too many attempts"),
    "view-only": Kind(403, "This session only watches"),
    "not-steerable": Kind(409, "It cannot be steered so"),
    "not-steered": Kind(409, "It is not steered"),
    "bad-parameter": Kind(422, "There is no such policy, parameter or size"),
    "too-many-actions": Kind(429, "Too many actions"),
    "audit-failed": Kind(503, "It cannot be logged, so it was not done"),
    "unknown-run": Kind(404, "No such run"),
    "not-recording": Kind(409, "It is not being recorded"),
    "already-recording": Kind(409, "It is being recorded already"),
    "disk-full": Kind(507, "The disk is full"),
    "bad-run": Kind(422, "It is not a run that can be read"),
    "runs-unavailable": Kind(503, "Runs cannot be kept here"),
    "not-found": Kind(404, "There is nothing here"),
    "method-not-allowed": Kind(405, "This method is not allowed here"),
    "internal": Kind(500, "Something went wrong in the backend"),
}


class ProblemError(Exception):
    """A refusal on its way to whoever asked.

    Attributes:
        problem: the document that is answered.
        headers: HTTP headers that belong to it, such as Retry-After.
    """

    def __init__(self, problem: Problem, headers: dict[str, str] | None = None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.headers = headers or {}


def problem(kind: ProblemType, detail: str, hint: str, status: int | None = None) -> Problem:
    """Make a problem document.

    Args:
        kind: which row of `KINDS`.
        detail: what was wrong here, naming the value.
        hint: what to do about it.
        status: HTTP status, where it is not the kind's own (a malformed body is 400, not 422).
    """
    row = KINDS[kind]
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
    return ProblemError(problem(kind, detail, hint), named)
