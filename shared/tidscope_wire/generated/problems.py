"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from typing import Literal, NamedTuple

from tidscope_wire.generated.models import ProblemType


class ProblemKind(NamedTuple):
    """HTTP status and title of a kind of problem, and who raises it."""

    status: int
    title: str
    raised_by: tuple[Literal["backend", "collector"], ...]


PROBLEMS: dict[ProblemType, ProblemKind] = {
    # The request does not fit its schema, or the collector's version does not know the command. 400 where the body is not JSON.
    "bad-request": ProblemKind(422, "Invalid request", ("collector", "backend", )),
    # No valid session and no valid token.
    "unauthenticated": ProblemKind(401, "Not signed in", ("backend", )),
    # The Origin header names a page that this backend does not serve.
    "forbidden-origin": ProblemKind(403, "Request from another origin", ("backend", )),
    # The Host header names a host that this backend does not serve.
    "forbidden-host": ProblemKind(403, "Request for another host", ("backend", )),
    # No process has this id.
    "unknown-process": ProblemKind(404, "No such process", ("collector", )),
    # The process exited and its id belongs to another one.
    "process-id-reused": ProblemKind(409, "Process id reused", ("collector", )),
    # The kernel does not permit it to the collector.
    "not-permitted": ProblemKind(403, "Not permitted", ("collector", )),
    # A kernel thread cannot be attached to.
    "kernel-thread": ProblemKind(422, "Kernel thread", ("collector", )),
    # No process that may be attached to is in the group now.
    "empty-group": ProblemKind(404, "No process in the group", ("collector", )),
    # More processes are in the group than a target can have.
    "group-too-large": ProblemKind(409, "Too many processes in the group", ("collector", )),
    # The selector of a group is incomplete, or its match expression cannot be read.
    "bad-group": ProblemKind(422, "Not a group", ("collector", )),
    # The process exited, or its target is no longer sampled.
    "target-exited": ProblemKind(410, "Process exited", ("collector", "backend", )),
    # The limit on attached targets, or on the targets of one page, is reached.
    "too-many-targets": ProblemKind(409, "Too many targets", ("collector", "backend", )),
    # No target has this id.
    "unknown-target": ProblemKind(404, "No such target", ("collector", "backend", )),
    # No collector of this host has connected.
    "unknown-host": ProblemKind(404, "No such host", ("backend", )),
    # The host's collector is not connected.
    "no-collector": ProblemKind(503, "No collector connected", ("backend", )),
    # The command may still be carried out.
    "collector-timeout": ProblemKind(504, "Collector did not answer in time", ("backend", )),
    # The demo program could not be started.
    "demo-failed": ProblemKind(500, "Demo program failed to start", ("backend", )),
    # The backend carries out one experiment at a time.
    "experiment-running": ProblemKind(409, "An experiment is running", ("backend", )),
    # The request body exceeds the limit.
    "too-large": ProblemKind(413, "Request too large", ("backend", )),
    # Too many wrong tokens from this address.
    "too-many-attempts": ProblemKind(429, "Too many attempts", ("backend", )),
    # The session's role is viewer.
    "view-only": ProblemKind(403, "View-only session", ("backend", )),
    # No open session has this id.
    "unknown-session": ProblemKind(404, "No such session", ("backend", )),
    # Nothing on this host can take stacks of the target; the detail says why.
    "no-stacks": ProblemKind(409, "No stacks can be taken", ("collector", )),
    # The host keeps no minutes, or has no relay to a fleet that could send some.
    "no-ring": ProblemKind(409, "No minutes kept", ("collector", )),
    # The knob or the signal is unavailable for this target.
    "not-steerable": ProblemKind(409, "Cannot steer with these settings", ("collector", )),
    # The target is not being steered.
    "not-steered": ProblemKind(409, "Not steered", ("collector", )),
    # The policy, one of its parameters or a bound does not exist or is out of range.
    "bad-parameter": ProblemKind(422, "Unknown policy, parameter or size", ("collector", )),
    # The limit on concurrent or recent actions is reached.
    "too-many-actions": ProblemKind(429, "Too many actions", ("collector", "backend", )),
    # The action could not be logged, so it was not carried out.
    "audit-failed": ProblemKind(503, "Audit log not writable", ("collector", )),
    # No run has this id.
    "unknown-run": ProblemKind(404, "No such run", ("backend", )),
    # The run is not being recorded.
    "not-recording": ProblemKind(409, "Not being recorded", ("backend", )),
    # The target is already being recorded.
    "already-recording": ProblemKind(409, "Already being recorded", ("backend", )),
    # There is not enough free space.
    "disk-full": ProblemKind(507, "Disk full", ("backend", )),
    # The run or archive cannot be read.
    "bad-run": ProblemKind(422, "Unreadable run", ("collector", "backend", )),
    # The runs directory cannot be used.
    "runs-unavailable": ProblemKind(503, "Run store unavailable", ("backend", )),
    # The question about totals by role took too long or too much memory, or the table cannot be read.
    "roles-unavailable": ProblemKind(503, "Totals by role unavailable", ("backend", )),
    # There is no experiment with this id, or its journal cannot be read.
    "unknown-experiment": ProblemKind(404, "Unknown experiment", ("backend", )),
    # No stored span is of this trace, or retention has deleted them.
    "unknown-trace": ProblemKind(404, "Unknown trace", ("backend", )),
    # There is nothing at this address.
    "not-found": ProblemKind(404, "Not found", ("backend", )),
    # The address does not support this method.
    "method-not-allowed": ProblemKind(405, "Method not allowed", ("backend", )),
    # An error in tidscope.
    "internal": ProblemKind(500, "Internal error", ("collector", "backend", )),
    # The prediction service does not answer, has no such model, or does not permit it to the backend's user.
    "prediction-refused": ProblemKind(409, "The prediction service refused", ("backend", )),
}
