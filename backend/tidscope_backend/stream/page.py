"""One connected page: what it reads, and what waits for it."""

import asyncio
from collections import deque

from tidscope_wire.generated.limits import MAX_SUBSCRIPTIONS
from tidscope_wire.generated.models import (
    FramesLost,
    LiveProblem,
    Problem,
    StreamStats,
)
from tidscope_wire.problems import refusal

from tidscope_backend.hidden_arguments import frame_without
from tidscope_backend.stream.flow_control import SendWindow
from tidscope_backend.stream.history_store import HistoryStore
from tidscope_backend.stream.stored_frame import StoredFrame
from tidscope_backend.stream.subscription import Bounds, Subscription

MAX_NOTES = 64


class Page:
    """What waits for one page is bounded, in each of its parts.

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
