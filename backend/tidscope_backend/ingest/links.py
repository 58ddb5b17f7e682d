"""All connected collectors, one a host."""

from collections.abc import Callable

from tidscope_wire.generated.models import FlushReply, Target
from tidscope_wire.problems import refusal

from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.steering_memory import SteeringMemory


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
