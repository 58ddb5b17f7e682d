"""The host's token: one instance tries sizes at a time. Pure: time is an argument."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """Holder of the right to try sizes, and the end of that right."""

    holder: str
    until_s: float


class Coordinator:
    """The host's token, granted by lease.

    The loop asks `is_probing_elsewhere` before each observation and passes the answer on as
    `probing_elsewhere`; after the decision it calls `report`, and keeps the size if the answer is
    that a decision to try sizes has no token. A holder that is heard of no more loses it when its
    lease ends. One that holds it for long must let the others have it once.

    Args:
        lease_s: lifetime of a token without renewal, in seconds.
        longest_s: maximum holding time while other instances exist, in seconds.
    """

    def __init__(self, lease_s: float = 10.0, longest_s: float = 60.0) -> None:
        self._lease_s = lease_s
        self._longest_s = longest_s
        self._lease: Lease | None = None
        self._since_s = 0.0
        self._members: list[str] = []

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the steered programs, in the order in which they joined."""
        return tuple(self._members)

    def join(self, name: str) -> None:
        """Add a steered program."""
        if name not in self._members:
            self._members.append(name)

    def leave(self, name: str) -> None:
        """Remove a program and free its token."""
        if name in self._members:
            self._members.remove(name)
        if self._lease is not None and self._lease.holder == name:
            self._lease = None

    def is_probing_elsewhere(self, name: str, now_s: float) -> bool:
        """True if an instance other than `name` holds the token."""
        if self._lease is not None and now_s >= self._lease.until_s:
            self._lease = None
        return self._lease is not None and self._lease.holder != name

    def request_turn(self, name: str, now_s: float, *, probing: bool) -> bool:
        """Report an instance's decision.

        Args:
            name: the instance.
            now_s: the time of the decision.
            probing: True if it tries sizes.

        Returns:
            True if the instance holds the token; without it, it must not try sizes.
        """
        if self.is_probing_elsewhere(name, now_s):
            return False
        if not probing:
            self._lease = None
            return False
        if self._lease is None:
            self._since_s = now_s
        elif now_s - self._since_s >= self._longest_s and len(self._members) > 1:
            self._lease = None
            return False
        self._lease = Lease(name, now_s + self._lease_s)
        return True
