"""Pages, and the fan-out of everything from collectors to the history and to each page."""

import asyncio
from collections import deque

from tidscope_wire.generated.limits import (
    MAX_SUBSCRIPTIONS,
    MAX_UNACKNOWLEDGED_BYTES,
    MAX_UNACKNOWLEDGED_FRAMES,
)
from tidscope_wire.generated.models import (
    FramesLost,
    LiveProblem,
    LiveState,
    Problem,
    StreamStats,
)
from tidscope_wire.problems import refusal

from tidscope_backend.hidden_arguments import frame_without, state_without
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import HistoryStore
from tidscope_backend.stream.subscription import Bounds, Subscription


def state_text(state: LiveState, sees_arguments: bool) -> str:
    """Hosts and targets as a message; without arguments of programs for who must not see them."""
    return (state if sees_arguments else state_without(state)).model_dump_json()


MAX_NOTES = 64


class Page:
    """A connected page; each kind of message that waits for it is bounded.

    Of state and statistics only the newest waits; problems and losses in a short list; frames in
    the subscriptions.

    Args:
        bounds: of each subscription.
        sees_arguments: whether it is shown those of programs.
    """

    def __init__(self, bounds: Bounds, sees_arguments: bool) -> None:
        self._bounds = bounds
        self.sees_arguments = sees_arguments
        self._subscriptions: dict[str, Subscription] = {}
        self._state: str | None = None
        self._stats: str | None = None
        self._notes: deque[str] = deque(maxlen=MAX_NOTES)
        self._wake = asyncio.Event()
        self._window = SendWindow()
        self._gone_coalesced = 0
        self._gone_dropped = 0
        self.sent = 0
        self.notices_dropped = 0

    @property
    def coalesced(self) -> int:
        """Frames that it got merged into a later one; it never falls."""
        return self._gone_coalesced + sum(s.coalesced for s in self._subscriptions.values())

    @property
    def merged(self) -> int:
        """Frames that are merged into others which wait for it."""
        return sum(s.merged for s in self._subscriptions.values())

    @property
    def dropped(self) -> int:
        """Frames that it never gets in any form."""
        return self._gone_dropped + sum(s.dropped for s in self._subscriptions.values())

    @property
    def waiting(self) -> int:
        """Frames that wait for it now."""
        return sum(s.waiting for s in self._subscriptions.values())

    def subscribe(self, target: str, after_seq: int | None, store: HistoryStore) -> None:
        """Begin, or begin again, to read a target; it need not be known yet.

        Raises:
            ProblemError: it reads too many already.
        """
        self.unsubscribe(target)
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise refusal(
                "too-many-targets",
                f"this page reads {MAX_SUBSCRIPTIONS} targets already, {target} would be one more",
                "unsubscribe from one of them first",
            )
        self._subscriptions[target] = Subscription(
            target, store.get(target), after_seq, self._bounds
        )
        self._wake.set()

    def unsubscribe(self, target: str) -> None:
        """Stop reading a target."""
        subscription = self._subscriptions.pop(target, None)
        if subscription is not None:
            self._gone_coalesced += subscription.coalesced
            self._gone_dropped += subscription.dropped

    def acknowledge(self, frames: int) -> None:
        """The page has dealt with so many frames since it connected.

        Raises:
            ProblemError: that cannot be.
        """
        self._window.acknowledge(frames)
        self._wake.set()

    def enqueue(self, frame: StoredFrame) -> None:
        """A frame has come; it waits here if the page reads its target."""
        subscription = self._subscriptions.get(frame.target)
        if subscription is not None:
            subscription.enqueue(frame)
            self._wake.set()

    def enqueue_state(self, state: str) -> None:
        """Hosts or targets have changed."""
        self._state = state
        self._wake.set()

    def enqueue_loss(self, lost: FramesLost) -> None:
        """Frames were lost before they reached the backend."""
        subscription = self._subscriptions.get(lost.target)
        part = subscription.clip_lost(lost.from_seq, lost.to_seq) if subscription else None
        if part is not None:
            clipped = lost.model_copy(update={"from_seq": part[0], "to_seq": part[1]})
            self._enqueue_text(clipped.model_dump_json())

    def enqueue_problem(self, problem: Problem) -> None:
        """A command was refused."""
        self._enqueue_text(LiveProblem(problem=problem).model_dump_json())

    def enqueue_stats(self, clients: int) -> None:
        """Tell the page how it keeps up."""
        self._stats = StreamStats(
            sent=self.sent,
            coalesced=self.coalesced + self.merged,
            dropped=self.dropped,
            queue=self.waiting,
            clients=clients,
        ).model_dump_json()
        self._wake.set()

    async def next_message(self) -> str | bytes:
        """Wait for what is to be sent next: words before frames, targets in turn."""
        while True:
            message = self._next_waiting()
            if message is not None:
                return message
            self._wake.clear()
            await self._wake.wait()

    def _enqueue_text(self, text: str) -> None:
        # The oldest one gives way; what it was about is counted all the same.
        self.notices_dropped += len(self._notes) == MAX_NOTES
        self._notes.append(text)
        self._wake.set()

    def _next_waiting(self) -> str | bytes | None:
        if self._state is not None:
            text, self._state = self._state, None
            return text
        if self._notes:
            return self._notes.popleft()
        if self._stats is not None:
            text, self._stats = self._stats, None
            return text
        return self._next_frame()

    def _next_frame(self) -> str | bytes | None:
        if not self._window.open:
            return None
        for target, subscription in list(self._subscriptions.items()):
            frame = subscription.next_frame()
            lost = subscription.next_loss()
            while lost is not None:
                self._enqueue_text(FramesLost(target=target, **lost._asdict()).model_dump_json())
                lost = subscription.next_loss()
            if frame is not None:
                # To the end of the line, so that one busy target does not starve the others.
                self._subscriptions[target] = self._subscriptions.pop(target)
                self.sent += 1
                self._window.sent(len(frame.data))
                return frame.data if self.sees_arguments else frame_without(frame.data)
        return self._notes.popleft() if self._notes else None


class Fanout:
    """Holds the connected pages.

    Args:
        store: the kept frames.
    """

    def __init__(self, store: HistoryStore) -> None:
        self.store = store
        self.frames = 0
        self.frame_bytes = 0
        self.lost = 0
        self.gaps = 0
        self._pages: set[Page] = set()
        self._gone_coalesced = 0
        self._gone_dropped = 0
        self._gone_notices = 0

    @property
    def pages(self) -> int:
        """Pages connected."""
        return len(self._pages)

    @property
    def coalesced(self) -> int:
        """Frames that pages got merged, those of pages that have gone included; it never falls."""
        return self._gone_coalesced + sum(page.coalesced for page in self._pages)

    @property
    def merged(self) -> int:
        """Frames that are merged into others which wait for pages."""
        return sum(page.merged for page in self._pages)

    @property
    def dropped(self) -> int:
        """Frames that a page never got, those of pages that have gone included."""
        return self._gone_dropped + sum(page.dropped for page in self._pages)

    @property
    def notices_dropped(self) -> int:
        """Losses and problems not reported to a page, those of pages that have gone included."""
        return self._gone_notices + sum(page.notices_dropped for page in self._pages)

    @property
    def queued(self) -> int:
        """Frames that wait for pages now."""
        return sum(page.waiting for page in self._pages)

    def add(self, page: Page) -> None:
        """A page has connected."""
        self._pages.add(page)

    def remove(self, page: Page) -> None:
        """A page has gone."""
        self._pages.discard(page)
        self._gone_coalesced += page.coalesced
        self._gone_dropped += page.dropped
        self._gone_notices += page.notices_dropped

    def publish(self, frame: StoredFrame) -> None:
        """A frame has come."""
        self.frames += 1
        self.frame_bytes += len(frame.data)
        self.store.add(frame)
        for page in self._pages:
            page.enqueue(frame)

    def publish_lost(self, lost: FramesLost, count: int) -> None:
        """Frames did not come.

        Args:
            lost: what is sent to the pages.
            count: how many of them the backend had reason to expect.
        """
        self.lost += count
        self.gaps += count > 0
        for page in self._pages:
            page.enqueue_loss(lost)

    def publish_state(self, state: LiveState) -> None:
        """Hosts or targets have changed."""
        texts: dict[bool, str] = {}
        for page in self._pages:
            sees = page.sees_arguments
            if sees not in texts:
                texts[sees] = state_text(state, sees)
            page.enqueue_state(texts[sees])

    def publish_stats(self) -> None:
        """A second has passed."""
        for page in self._pages:
            page.enqueue_stats(len(self._pages))


class SendWindow:
    """Frames on their way to a page that tells what it has dealt with.

    A browser takes messages off the wire before its program looks at them, so the transport's own
    back-pressure does not show a page that is slower than its frames. Closed only for pages that
    tell: one that never acknowledges is sent all there is.
    """

    def __init__(self) -> None:
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self._taken = 0
        self._tells = False

    @property
    def open(self) -> bool:
        """Whether another frame may be sent."""
        if not self._tells or not self._sizes:
            return True
        return (
            len(self._sizes) < MAX_UNACKNOWLEDGED_FRAMES and self._bytes < MAX_UNACKNOWLEDGED_BYTES
        )

    def sent(self, size: int) -> None:
        """A frame of so many bytes was sent."""
        self._sizes.append(size)
        self._bytes += size

    def acknowledge(self, frames: int) -> None:
        """The page has dealt with so many frames since it connected.

        Raises:
            ProblemError: fewer than before, or more than were sent.
        """
        new = frames - self._taken
        if not 0 <= new <= len(self._sizes):
            sent = self._taken + len(self._sizes)
            raise refusal(
                "bad-request",
                f"{frames} frames taken cannot be: {self._taken} were before, {sent} were sent",
                "count the binary messages since the connection began",
            )
        self._tells = True
        self._taken = frames
        for _ in range(new):
            self._bytes -= self._sizes.popleft()
