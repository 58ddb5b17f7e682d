"""A page that follows one target and believes nothing that contradicts itself."""

from collections.abc import Callable
from typing import TypeVar

from live_page import LivePage
from receiver import Receiver
from tidscope_wire.generated.models import FrameHeader, LiveState, TargetEvent

E = TypeVar("E", bound=TargetEvent)


class Follower:
    """Reads the frames of the one target that its page subscribed to.

    Attributes:
        receiver: what it knows.
        headers: of all frames.
    """

    def __init__(self, page: LivePage) -> None:
        self.page = page
        self.receiver = Receiver()
        self.headers: list[FrameHeader] = []

    async def next(self) -> FrameHeader:
        """Read one frame."""
        _, data = await self.page.frame()
        header, _ = self.receiver.frame(data)
        self.headers.append(header)
        return header

    async def until(self, wanted: Callable[[FrameHeader], bool]) -> FrameHeader:
        """Read up to a frame."""
        while not wanted(header := await self.next()):
            pass
        return header

    async def until_event(self, kind: type[E]) -> E:
        """Read up to an event of a kind."""
        header = await self.until(lambda one: any(isinstance(e, kind) for e in one.events))
        return next(event for event in header.events if isinstance(event, kind))

    def events(self, kind: type[E]) -> list[E]:
        """All events of a kind up to now."""
        return [e for header in self.headers for e in header.events if isinstance(e, kind)]


async def connected(page: LivePage) -> LiveState:
    """Wait until a collector is connected."""
    while True:
        state = await page.text(LiveState)
        if any(host.connected for host in state.hosts):
            return state
