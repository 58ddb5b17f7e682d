"""Current state of hosts and targets. No I/O; changes are passed to subscribers."""

from collections.abc import Callable, Iterable, Iterator

from tidscope_wire.generated.models import (
    CollectorOutage,
    FrameHeader,
    Host,
    LiveState,
    Steering,
    SteeringDecided,
    Target,
)
from tidscope_wire.problems import refusal

MAX_HOSTS = 256


class HostRegistry:
    """Hosts and targets that collectors have announced.

    Args:
        max_ended: maximum number of ended targets; beyond it the oldest are removed.
    """

    def __init__(self, max_ended: int) -> None:
        self._max_ended = max_ended
        self._changed: Callable[[], None] = _nothing
        self._forgotten: Callable[[str], None] = _nothing
        self._hosts: dict[str, Host] = {}
        self._targets: dict[str, Target] = {}

    def subscribe(self, changed: Callable[[], None], forgotten: Callable[[str], None]) -> None:
        """Set the callbacks.

        Args:
            changed: called after each change.
            forgotten: called with the ID of each removed target.
        """
        self._changed = changed
        self._forgotten = forgotten

    @property
    def hosts(self) -> list[Host]:
        """Known hosts, including those without a connected collector."""
        return list(self._hosts.values())

    @property
    def targets(self) -> list[Target]:
        """Known targets in order of attachment, including ended ones."""
        return sorted(self._targets.values(), key=lambda target: target.attached_unix_us)

    def attached(self) -> Iterator[tuple[Target, str]]:
        """Yield attached targets, each with the name of its host."""
        for target in self.targets:
            host = self._hosts.get(target.host)
            if target.state == "attached" and host is not None:
                yield target, host.name

    def host(self, host_id: str) -> Host | None:
        """Find a host."""
        return self._hosts.get(host_id)

    def clock_ahead_us(self, host_id: str) -> int:
        """Wall clock of a host minus the backend's, in microseconds; 0 if unknown."""
        host = self._hosts.get(host_id)
        return (host.clock_ahead_us or 0) if host is not None else 0

    def collector_pid(self, host_id: str) -> int | None:
        """Process ID of the host's last collector, or None if none has connected."""
        host = self._hosts.get(host_id)
        return host.collector.pid if host is not None else None

    def target(self, target_id: str) -> Target | None:
        """Find a target."""
        return self._targets.get(target_id)

    def require(self, target_id: str) -> Target:
        """Find a target.

        Raises:
            ProblemError: the target is unknown.
        """
        target = self._targets.get(target_id)
        if target is None:
            raise refusal(
                "unknown-target",
                f"no target {target_id!r} is known",
                "attach to the process again",
            )
        return target

    def require_attached(self, target_id: str) -> Target:
        """Find an attached target.

        Raises:
            ProblemError: the target is unknown or has ended.
        """
        target = self.require(target_id)
        if target.state != "attached":
            raise refusal(
                "target-exited",
                f"target {target_id} is {target.state}; it is not sampled any more",
                "attach to a running process",
            )
        return target

    def live_state(self) -> LiveState:
        """Complete state, as the message for subscribers."""
        return LiveState(hosts=self.hosts, targets=self.targets)

    def connect_host(self, host: Host, targets: Iterable[Target]) -> None:
        """Register a connected collector's host and targets.

        An attached target of this host that the collector does not list belonged to an earlier
        collector process. No collector samples it now, so it becomes detached.
        """
        # Hosts are ordered by the time of connection.
        known = self._hosts.pop(host.id, None)
        outage = None if known is None else known.outage
        self._hosts[host.id] = host.model_copy(update={"connected": True, "outage": outage})
        self._bound_hosts()
        held = {target.id: target for target in targets}
        for target in self._targets.values():
            if target.host == host.id and target.id not in held and target.state == "attached":
                held[target.id] = target.model_copy(update={"state": "detached"})
        self._targets.update(held)
        self._bound()
        self._changed()

    def disconnect_host(self, host_id: str) -> None:
        """Note that the collector disconnected; it continues sampling, so targets stay attached."""
        host = self._hosts.get(host_id)
        if host is not None:
            self._hosts[host_id] = host.model_copy(update={"connected": False})
            self._changed()

    def set_outage(self, host_id: str, outage: CollectorOutage | None) -> None:
        """Set the outage of a host's collector; None to clear it."""
        host = self._hosts.get(host_id)
        if host is not None and host.outage != outage:
            self._hosts[host_id] = host.model_copy(update={"outage": outage})
            self._changed()

    def update_target(self, target: Target) -> None:
        """Add or replace a target."""
        if self._targets.get(target.id) != target:
            self._targets[target.id] = target
            self._bound()
            self._changed()

    def end_target(self, target_id: str) -> None:
        """End a target that is no longer sampled, regardless of its last reported state."""
        target = self._targets.get(target_id)
        if target is not None and target.state == "attached":
            self.update_target(target.model_copy(update={"state": "detached"}))

    def record_decisions(self, header: FrameHeader) -> None:
        """Apply the decisions of a frame to its target's steering.

        Subscribers receive the decisions in the frame, so nothing is published. Frames may be
        replayed: decisions older than the known state are ignored.
        """
        target = self._targets.get(header.target)
        if target is None:
            return
        decided = [event for event in header.events if isinstance(event, SteeringDecided)]
        if target.steering is not None:
            steering = _after(target.steering, decided, header)
            target = target.model_copy(update={"steering": steering})
        if target.programs:
            programs = []
            for one in target.programs:
                own = [event for event in decided if event.pid == one.pid]
                steering = _after(one.steering, own, header)
                programs.append(one.model_copy(update={"steering": steering}))
            target = target.model_copy(update={"programs": programs})
        self._targets[target.id] = target

    def remove_target(self, target_id: str) -> None:
        """Forget a target."""
        if self._targets.pop(target_id, None) is not None:
            self._forgotten(target_id)
            self._changed()

    def _bound_hosts(self) -> None:
        """Remove the hosts disconnected longest: a reboot changes a machine's ID."""
        away = [host.id for host in self._hosts.values() if not host.connected]
        for host_id in away[: max(0, len(self._hosts) - MAX_HOSTS)]:
            del self._hosts[host_id]
            for target in [one for one in self._targets.values() if one.host == host_id]:
                del self._targets[target.id]
                self._forgotten(target.id)

    def _bound(self) -> None:
        ended = [target for target in self.targets if target.state != "attached"]
        for target in ended[: max(0, len(ended) - self._max_ended)]:
            del self._targets[target.id]
            self._forgotten(target.id)


def _after(steering: Steering, decided: Iterable[SteeringDecided], header: FrameHeader) -> Steering:
    """Return the steering state after the decisions of a frame."""
    for event in decided:
        if event.number <= steering.decisions:
            continue
        at_unix_us = header.unix_us - (header.time_ns - event.at_ns) // 1000
        if at_unix_us < steering.since_unix_us:
            continue  # The decision belongs to an earlier steering.
        chosen_us = steering.chosen_unix_us
        if chosen_us is None and not event.deferred and not event.probing:
            chosen_us = at_unix_us
        steering = steering.model_copy(
            update={
                "size": event.next_size,
                "state": event.state,
                "reason": event.reason,
                "decisions": event.number,
                "ops_per_s": event.ops / event.elapsed_s if event.elapsed_s else 0.0,
                "interval_s": event.elapsed_s,
                "decided_unix_us": at_unix_us,
                "chosen_unix_us": chosen_us,
                "division": event.division,
            }
        )
    return steering


def _nothing(*_: object) -> None:
    """Ignore the call; default of both callbacks."""
