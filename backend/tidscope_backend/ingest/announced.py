"""The targets that one connected collector may speak of: those of its host that it announced."""

from collections.abc import Iterable

from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import Target

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.websocket_close import CloseError

MAX_ANNOUNCED = 256
"""A collector attaches to 32 processes, and speaks of 16 ended ones."""


class AnnouncedTargets:
    """Checks what a collector says of targets. Every method raises CloseError.

    Args:
        host_id: whom the collector speaks for.
        registry: hosts and targets.
        targets: of the hello.
    """

    def __init__(self, host_id: str, registry: HostRegistry, targets: Iterable[Target]) -> None:
        self.host_id = host_id
        self._registry = registry
        self._ids: set[str] = set()
        for target in targets:
            self.add(target)

    def add(self, target: Target) -> None:
        """The collector announces a target, or a change of one."""
        known = self._registry.target(target.id)
        for host_id in (target.host, known.host if known is not None else target.host):
            if host_id != self.host_id:
                raise CloseError(
                    CloseCode.BAD_MESSAGE,
                    f"target {target.id} is of host {host_id}, not {self.host_id}",
                )
        self._ids.add(target.id)
        if len(self._ids) > MAX_ANNOUNCED:
            raise CloseError(CloseCode.TOO_MANY, f"more than {MAX_ANNOUNCED} targets are announced")

    def has(self, target_id: str) -> bool:
        """Whether the collector has announced a target."""
        return target_id in self._ids

    def check(self, target_id: str) -> None:
        """The collector says something else of a target."""
        if target_id not in self._ids:
            raise CloseError(
                CloseCode.BAD_MESSAGE,
                f"target {target_id} was not announced by host {self.host_id}",
            )

    def remove(self, target_id: str) -> None:
        """The collector will say nothing of a target any more."""
        self._ids.discard(target_id)
