"""When a collector went away, and what is done when one is back in its place."""

import logging
import time
from collections.abc import Sequence

from tidscope_wire.audit import TIDSCOPE
from tidscope_wire.generated.models import (
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

_log = logging.getLogger(__name__)
MOST_LISTED = 64
BY_AGENT: frozenset[KnobKind] = frozenset({"go-agent", "pool-agent"})


class CollectorOutages:
    """Notes outages in the registry, and attaches again what a crashed collector watched.

    Args:
        registry: hosts and targets.
    """

    def __init__(self, registry: HostRegistry) -> None:
        self._registry = registry

    def went(self, host_id: str, *, goodbye: bool) -> None:
        """A collector disconnected.

        Args:
            host_id: whose it was.
            goodbye: it said that it ends.
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
        """Targets of a collector that is gone without a goodbye, now that another one is there.

        Call it before the registry learns of the new one. Where the same collector is back nothing
        was lost; where one was stopped on purpose its targets ended with it.
        """
        known = self._registry.host(hello.host.id)
        if known is None or known.outage is None or known.outage.back_unix_us is not None:
            return []
        if known.outage.kind != "lost" or known.collector.pid == hello.host.collector.pid:
            self._registry.set_outage(hello.host.id, None)
            return []
        crashed = {"kind": "crashed", "back_unix_us": time.time_ns() // 1000}
        outage = known.outage.model_copy(
            update={**crashed, "restored": hello.restored[:MOST_LISTED]}
        )
        self._registry.set_outage(hello.host.id, outage)
        held = {target.id for target in hello.targets}
        return [
            target
            for target in self._registry.targets
            if target.host == hello.host.id and target.state == "attached" and target.id not in held
        ]

    async def attach_again(self, link: CollectorLink, targets: Sequence[Target]) -> None:
        """Attach to the same processes and groups; say what could not be, and note all of it."""
        attached: list[str] = []
        failed: list[str] = []
        for target in targets:
            name = _name(target)
            try:
                await link.attach(_request(target), TIDSCOPE, continues=target.id)
            except ProblemError as error:
                failed.append(f"{name}: {error.problem.detail}"[:1024])
                _log.info("%s is not attached again: %s", name, error.problem.detail)
            else:
                attached.append(name)
        host = self._registry.host(link.host.id)
        if host is None or host.outage is None:
            return
        update = {
            "attached": attached[:MOST_LISTED],
            "failed": failed[:MOST_LISTED],
            "leases": [name for target in targets for name in _leases(target)][:MOST_LISTED],
        }
        self._registry.set_outage(link.host.id, host.outage.model_copy(update=update))


def _request(target: Target) -> AttachRequest:
    """What is attached to again: the very process, or a group as it was asked for."""
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
    """Programs that were steered through an agent."""
    found = []
    if target.steering is not None and target.steering.knob in BY_AGENT:
        found.append(_name(target))
    found += [
        f"{one.name} ({one.pid})" for one in target.programs or () if one.steering.knob in BY_AGENT
    ]
    return found
