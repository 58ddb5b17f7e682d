"""Counts of a host's relay, sent with its regular word that the host is there. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

MAX_COUNT = 1 << 63
"""Bound on a count; a word with a greater one is ignored, since /metrics could not show it."""


class RelayCounts(NamedTuple):
    """Counts since the relay started.

    Attributes:
        taken: frames of the collector.
        sent: frames sent, counted for each backend.
        unwatched: frames that nobody watched when they came.
        dropped: messages that found no server, or too many before them.
        sent_bytes: bytes of the messages given to servers.
        reconnects: connections to servers after the first one.
    """

    taken: int = 0
    sent: int = 0
    unwatched: int = 0
    dropped: int = 0
    sent_bytes: int = 0
    reconnects: int = 0

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        """Read the counts of a host's word; a count that it lacks is 0. Raises ValueError."""
        counts = [facts.get(name, 0) for name in cls._fields]
        if not all(type(count) is int and 0 <= count < MAX_COUNT for count in counts):
            raise ValueError("a count is no number, or too large")
        return cls(*counts)
