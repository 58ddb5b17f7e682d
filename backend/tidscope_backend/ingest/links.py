"""All connected collectors, one a host, and the steering to restore after a collector crash."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tidscope_wire.generated.models import (
    FlushReply,
    Process,
    ProgramChoice,
    ProgramOptions,
    SteerRequest,
    Target,
)
from tidscope_wire.problems import refusal

from tidscope_backend.ingest.link import CollectorLink


class CollectorLinks:
    """Finds the collector that a request is for.

    Args:
        known: whether a host has ever connected.

    Attributes:
        asked: what they were asked to steer; it outlives them.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self.asked = SteeringMemory()
        self._known = known
        self._links: dict[str, CollectorLink] = {}

    def __len__(self) -> int:
        return len(self._links)

    def is_connected(self, host_id: str) -> bool:
        """Whether the collector of a host is connected."""
        return host_id in self._links

    def add(self, link: CollectorLink) -> None:
        """A collector has connected; an older connection of the same host gives way."""
        older = self._links.get(link.host.id)
        self._links[link.host.id] = link
        if older is not None:
            older.fail_pending()
            older.replace()

    def remove(self, link: CollectorLink) -> bool:
        """A connection has ended; false if another one had taken its place."""
        link.fail_pending()
        if self._links.get(link.host.id) is not link:
            return False
        del self._links[link.host.id]
        return True

    async def flush(self, target: Target) -> FlushReply:
        """Have everything of a target sent up to now; see `CollectorLink.flush`."""
        return await self._named(target.host).flush(target.id)

    def pick(self, host_id: str | None) -> CollectorLink:
        """Find the collector of a host.

        Args:
            host_id: which one; may be None where there is one only.

        Raises:
            ProblemError: there is none, or it has to be named.
        """
        if host_id is not None:
            return self._named(host_id)
        if not self._links:
            raise refusal(
                "no-collector",
                "no collector is connected to this backend",
                "start one with `tidscope collect`, or start all with `tidscope up`",
            )
        if len(self._links) > 1:
            raise refusal(
                "bad-request",
                f"several hosts are connected ({', '.join(sorted(self._links))}) and none is named",
                "choose one of them",
            )
        return next(iter(self._links.values()))

    def _named(self, host_id: str) -> CollectorLink:
        link = self._links.get(host_id)
        if link is not None:
            return link
        if self._known(host_id):
            raise refusal(
                "no-collector",
                f"the collector of host {host_id!r} is not connected now",
                "it reconnects by itself if it runs; else start it with `tidscope collect`",
            )
        raise refusal(
            "unknown-host",
            f"no host {host_id!r} has connected",
            "choose another host, or start a collector there: `tidscope collect`",
        )


MAX_KNOWN = 1024


class NotResumedError(Exception):
    """A policy is not started again; the text says why."""


@dataclass
class AskedSteering:
    """The steering requested for one target.

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
        """The request; None if nothing was requested, or it was released."""
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
    """Make the request that starts the policy of a target again.

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
    """Identity of a program, which a later program of the same process does not share."""
    return process.executable, process.command, process.name
