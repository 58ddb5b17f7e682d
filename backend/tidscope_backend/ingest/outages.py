"""Outages of collectors, and recovery when a new one connects."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from tidscope_wire.audit import TIDSCOPE
from tidscope_wire.generated.models import (
    Actor,
    AttachRequest,
    CollectorHello,
    CollectorOutage,
    GroupSelector,
    KnobKind,
    Target,
)
from tidscope_wire.problems import ProblemError

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import (
    NotResumedError,
    SteeringMemory,
    request_again,
    was_steered,
)

_log = logging.getLogger(__name__)
MAX_LISTED = 64
RESTARTER = Actor(session=None, role=None, label="tidscope, after a crash of the collector")
"""Actor recorded for restarted policies."""
TRIES = 5
RETRY_S = 2.0
"""Delay before a retry, in seconds: a steered program may not be ready immediately."""
BY_AGENT: frozenset[KnobKind] = frozenset({"go-agent", "pool-agent"})


class CollectorOutages:
    """Records outages in the registry, and re-attaches what a crashed collector watched.

    Args:
        registry: hosts and targets.
        asked: steering requests to collectors.
        unfinished: returns targets of runs that an earlier backend left unfinished; see `Recorder`.
    """

    def __init__(
        self,
        registry: HostRegistry,
        asked: SteeringMemory,
        unfinished: Callable[[str, int], list[Target]] = lambda _, __: [],
    ) -> None:
        self._registry, self._asked, self._unfinished = registry, asked, unfinished

    def went(self, host_id: str, *, goodbye: bool) -> None:
        """Record that a collector disconnected.

        Args:
            host_id: host of the collector.
            goodbye: whether the collector announced its end.
        """
        outage = CollectorOutage(
            kind="ended" if goodbye else "lost",
            at_unix_us=time.time_ns() // 1000,
            back_unix_us=None,
            attached=[],
            failed=[],
            restored=[],
            leases=[],
        )
        self._registry.set_outage(host_id, outage)

    def lost_targets(self, hello: CollectorHello) -> list[Target]:
        """Return the targets of a crashed collector whose replacement has connected.

        Call before the registry learns of the new collector. A reconnected collector has lost no
        target, and a stopped one ended its targets.
        """
        held = {target.id for target in hello.targets}
        known = self._registry.host(hello.host.id)
        if known is None:
            # After an end of the backend, only its unfinished runs show what was attached.
            targets = self._unfinished(hello.host.id, hello.host.collector.pid)
            return [target for target in targets if target.id not in held]
        if known.outage is None or known.outage.back_unix_us is not None:
            return []
        if known.outage.kind != "lost" or known.collector.pid == hello.host.collector.pid:
            self._registry.set_outage(hello.host.id, None)
            return []
        crashed = {"kind": "crashed", "back_unix_us": time.time_ns() // 1000}
        outage = known.outage.model_copy(
            update={**crashed, "restored": hello.restored[:MAX_LISTED]}
        )
        self._registry.set_outage(hello.host.id, outage)
        return [
            target
            for target in self._registry.targets
            if target.host == hello.host.id and target.state == "attached" and target.id not in held
        ]

    async def attach_again(self, link: CollectorLink, targets: Sequence[Target]) -> None:
        """Attach to the same processes and groups, and restart their policies.

        Successes and failures are recorded in the host's outage.
        """
        host = self._registry.host(link.host.id)
        if host is not None and host.outage is None:
            # The end of the collector was not observed, so use the time of its return.
            now_us = time.time_ns() // 1000
            outage = CollectorOutage(
                kind="crashed",
                at_unix_us=now_us,
                back_unix_us=now_us,
                attached=[],
                failed=[],
                restored=[],
                leases=[],
            )
            self._registry.set_outage(link.host.id, outage)
        attached: list[str] = []
        failed: list[str] = []
        again: list[tuple[Target, Target]] = []
        for target in targets:
            name = _name(target)
            try:
                reply = await link.attach(_request(target), TIDSCOPE, continues=target.id)
            except ProblemError as error:
                failed.append(f"{name}: {error.problem.detail}"[:1024])
                _log.info("%s is not attached again: %s", name, error.problem.detail)
            else:
                attached.append(name)
                again.append((target, reply.target))
        leases = [name for target in targets for name in _leases(target)]
        self._note(link.host.id, attached=attached, failed=failed, leases=leases)
        steered: list[str] = []
        for old, now in again:
            try:
                if await self._steer_again(link, old, now):
                    steered.append(_name(now))
            except (NotResumedError, ProblemError) as error:
                why = error.problem.detail if isinstance(error, ProblemError) else str(error)
                failed.append(f"{_name(now)}: its policy is not started again: {why}"[:1024])
            self._note(link.host.id, steered=steered, failed=failed)

    async def _steer_again(self, link: CollectorLink, old: Target, now: Target) -> bool:
        """Restart a target's policy, if any. Return True if the policy is running.

        Raises:
            NotResumedError: the policy must not be restarted.
            ProblemError: the collector refuses.
        """
        for left in range(TRIES - 1, -1, -1):
            asked = self._asked.recall(old.id)
            programs = None
            if now.group is not None and asked is not None and was_steered(old):
                programs = (await link.steering_options(now.id)).options.programs
            request = request_again(old, now, asked, programs or ())
            current = self._registry.target(now.id)
            if request is None or current is None or was_steered(current):
                return False  # No policy to restart, or already restarted.
            try:
                await link.steer(now.id, request, RESTARTER, restarts=old.id)
            except ProblemError as error:
                if left == 0 or not error.problem.type.endswith("not-steerable"):
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                self._asked.note(now.id, request)
                _log.info("%s is steered again with %s", _name(now), request.policy)
                return True
        return False

    def _note(self, host_id: str, **lists: Sequence[str]) -> None:
        """Record names and reasons in a host's outage."""
        host = self._registry.host(host_id)
        if host is not None and host.outage is not None:
            update = {name: [*found[:MAX_LISTED]] for name, found in lists.items()}
            self._registry.set_outage(host_id, host.outage.model_copy(update=update))


def _request(target: Target) -> AttachRequest:
    """Build the request that attaches to the same process or group."""
    rules = (target.role_rules or [])[:32] or None
    process, group = target.process, target.group
    if group is None:
        return AttachRequest(
            pid=process.pid,
            start_ticks=process.start_ticks,
            rate_hz=target.rate_hz,
            role_rules=rules,
        )
    of_tree = group.kind == "tree"
    selector = GroupSelector(
        kind=group.kind,
        pid=process.pid if of_tree else None,
        start_ticks=process.start_ticks if of_tree else None,
        value=None if of_tree else group.cgroup if group.kind == "cgroup" else group.value,
    )
    return AttachRequest(group=selector, rate_hz=target.rate_hz, role_rules=rules)


def _name(target: Target) -> str:
    if target.group is not None:
        return target.group.name[:256]
    return f"{target.process.name} ({target.process.pid})"


def _leases(target: Target) -> list[str]:
    """Return programs that were steered through an agent."""
    found = []
    if target.steering is not None and target.steering.knob in BY_AGENT:
        found.append(_name(target))
    found += [
        f"{one.name} ({one.pid})" for one in target.programs or () if one.steering.knob in BY_AGENT
    ]
    return found
