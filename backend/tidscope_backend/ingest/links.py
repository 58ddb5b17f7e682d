"""All connected collectors, one per host, and the steering to restore after a collector crash."""

import hmac
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tidscope_wire.audit import TIDSCOPE
from tidscope_wire.generated.models import (
    FlushReply,
    Process,
    ProgramChoice,
    ProgramOptions,
    SpanThreadName,
    SteerRequest,
    Target,
    TargetReply,
)
from tidscope_wire.problems import refusal

from tidscope_backend.ingest.link import CollectorLink


class CollectorLinks:
    """Finds the collector for a request.

    Args:
        known: returns whether a host has ever connected.

    Attributes:
        asked: steering requests; they outlive connections.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self.asked = SteeringMemory()
        self._known = known
        self._links: dict[str, CollectorLink] = {}

    def __len__(self) -> int:
        return len(self._links)

    def is_connected(self, host_id: str) -> bool:
        """Return True if the host's collector is connected."""
        return host_id in self._links

    def of_ticket(self, host_id: str, ticket: str) -> CollectorLink | None:
        """Return the collector of a host if this is the ticket of its data connection."""
        link = self._links.get(host_id)
        is_known = link is not None and hmac.compare_digest(link.ticket, ticket)
        return link if is_known else None

    def add(self, link: CollectorLink) -> None:
        """Register a collector; an older connection of the same host is closed."""
        older = self._links.get(link.host.id)
        self._links[link.host.id] = link
        if older is not None:
            older.fail_pending()
            older.replace()

    def remove(self, link: CollectorLink) -> bool:
        """Remove a connection. Return False if a newer one has replaced it."""
        link.fail_pending()
        if self._links.get(link.host.id) is not link:
            return False
        del self._links[link.host.id]
        return True

    async def flush(self, target: Target) -> FlushReply:
        """Have the collector send all pending data of a target; see `CollectorLink.flush`."""
        return await self._named(target.host).flush(target.id)

    async def sample_stacks(self, target: Target, seconds: float) -> TargetReply:
        """Take stacks of a target for a run; see `CollectorLink.sample_stacks`."""
        return await self._named(target.host).sample_stacks(target.id, seconds, TIDSCOPE)

    async def name_threads(self, target: Target, names: list[SpanThreadName]) -> TargetReply:
        """Name threads of a target as spans name them; see `CollectorLink.name_threads`."""
        return await self._named(target.host).name_threads(target.id, names)

    async def note_debug_files(self, target: Target, build_ids: list[str]) -> TargetReply:
        """Have names asked for again; see `CollectorLink.note_debug_files`."""
        return await self._named(target.host).note_debug_files(target.id, build_ids)

    def pick(self, host_id: str | None) -> CollectorLink:
        """Find the collector of a host.

        Args:
            host_id: host ID; optional if only one collector is connected.

        Raises:
            ProblemError: no collector matches, or the host must be named.
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
    """A policy is not restarted; the text is the reason."""


@dataclass
class AskedSteering:
    """The steering requested for one target.

    Attributes:
        request: last request that was carried out.
        released: programs of a group released since the request.
    """

    request: SteerRequest
    released: set[int] = field(default_factory=set)


class SteeringMemory:
    """Remembers steering requests until the user releases the target, successfully or not."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AskedSteering] = OrderedDict()

    def note(self, target: str, request: SteerRequest) -> None:
        """Remember a request that was carried out."""
        self._known.pop(target, None)
        self._known[target] = AskedSteering(request)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    def forget(self, target: str, pid: int | None = None) -> None:
        """Forget a released target, or one released program of a group."""
        if pid is None:
            self._known.pop(target, None)
        elif target in self._known:
            self._known[target].released.add(pid)

    def recall(self, target: str) -> AskedSteering | None:
        """Return the request, or None if there was none or the target was released."""
        return self._known.get(target)


def was_steered(target: Target) -> bool:
    """Return True if the target's last reported state had a policy."""
    return target.steering is not None or bool(target.programs) or bool(target.programs_join)


def request_again(
    old: Target,
    now: Target,
    asked: AskedSteering | None,
    programs: Iterable[ProgramOptions] = (),
) -> SteerRequest | None:
    """Build the request that restarts a target's policy.

    Args:
        old: the target as last reported.
        now: the same process or group, attached to again.
        asked: steering request, or None.
        programs: current programs, if the target is a group.

    Returns:
        The request, or None if no policy was running or the target was released.

    Raises:
        NotResumedError: the policy must not be restarted.
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
    """Return steered programs that are unchanged and were not released."""
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
    """Return the identity of a program; a later program in the same process has another one."""
    return process.executable, process.command, process.name
