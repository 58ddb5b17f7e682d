"""What people asked collectors to steer, for the time after a collector crashed. Pure."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidscope_wire.generated.models import (
    Process,
    ProgramChoice,
    ProgramOptions,
    SteerRequest,
    Target,
)

MAX_KNOWN = 1024


class NotResumedError(Exception):
    """A policy is not started again; the text says why."""


@dataclass
class AskedSteering:
    """What was asked for of one target.

    Attributes:
        request: the last one that was carried out.
        released: programs of a group that were released since.
    """

    request: SteerRequest
    released: set[int] = field(default_factory=set)


class SteeringMemory:
    """Remembers requests until somebody releases what they steer, whether or not that succeeds."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AskedSteering] = OrderedDict()

    def note(self, target: str, request: SteerRequest) -> None:
        """A request was carried out."""
        self._known.pop(target, None)
        self._known[target] = AskedSteering(request)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    def forget(self, target: str, pid: int | None = None) -> None:
        """Somebody releases a target, or one program of a group."""
        if pid is None:
            self._known.pop(target, None)
        elif target in self._known:
            self._known[target].released.add(pid)

    def recall(self, target: str) -> AskedSteering | None:
        """What was asked for; None: nothing, or it was released."""
        return self._known.get(target)


def was_steered(target: Target) -> bool:
    """Whether a policy steered a target when it was heard of last."""
    return target.steering is not None or bool(target.programs) or bool(target.programs_join)


def request_again(
    old: Target,
    now: Target,
    asked: AskedSteering | None,
    programs: Iterable[ProgramOptions] = (),
) -> SteerRequest | None:
    """What starts the policy of a target again.

    Args:
        old: the target, as it was heard of last.
        now: the same process or group, attached to again.
        asked: what was asked for.
        programs: of a group: its programs now.

    Returns:
        The request; None: there was no policy, or somebody released it.

    Raises:
        NotResumedError: it must not be started again.
    """
    if not was_steered(old) or asked is None:
        return None
    request = asked.request
    if old.group is None:
        if _program(old.process) != _program(now.process):
            raise NotResumedError("another program runs in the process")
        steering = old.steering
        if request.sweep is not None:
            raise NotResumedError("the sweep ended with the collector")
        is_proven = steering is not None and (
            steering.proof is None or steering.proof.verdict == "better"
        )
        if request.proof is not None and not is_proven:
            raise NotResumedError("the proof ended with the collector")
        return request.model_copy(update={"proof": None})
    chosen = _choices(old, asked, {one.pid: one for one in programs})
    if not chosen:
        raise NotResumedError("none of its programs is there any more")
    return request.model_copy(update={"programs": chosen, "join": bool(old.programs_join)})


def _choices(
    old: Target, asked: AskedSteering, programs: Mapping[int, ProgramOptions]
) -> list[ProgramChoice]:
    """Programs that were steered, are still the same ones, and were not released."""
    own = {one.pid: one for one in asked.request.programs or ()}
    found = []
    for before in old.programs or ():
        now = programs.get(before.pid)
        if now is None or before.pid in asked.released:
            continue
        if (now.start_ticks, now.name) == (before.start_ticks, before.name):
            found.append(own.get(before.pid, ProgramChoice(pid=before.pid)))
    return found


def _program(process: Process) -> tuple[str | None, object, str]:
    """What tells one program from another that the same process executes later."""
    return process.executable, process.command, process.name
