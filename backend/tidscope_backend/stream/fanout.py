"""Subscribers, and the fan-out from collectors to the history and to each subscriber."""

import asyncio
from collections import deque
from collections.abc import Iterable

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
from tidscope_backend.stream.watched import WatchedTargets


def state_text(state: LiveState, sees_arguments: bool) -> str:
    """Return hosts and targets as a message; arguments of programs are optional."""
    return (state if sees_arguments else state_without(state)).model_dump_json()


MAX_NOTES = 64


class Subscriber:
    """A connected subscriber; each kind of pending message is bounded.

    Only the newest state and statistics are queued, problems and losses in a short list, frames in
    the subscriptions.

    Args:
        bounds: bounds of each subscription.
        sees_arguments: whether the subscriber may see program arguments.
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
    def targets(self) -> Iterable[str]:
        """IDs of the targets that it reads."""
        return self._subscriptions.keys()

    @property
    def coalesced(self) -> int:
        """Frames delivered as part of a later one; never decreases."""
        return self._gone_coalesced + sum(s.coalesced for s in self._subscriptions.values())

    @property
    def merged(self) -> int:
        """Coalesced frames awaiting delivery."""
        return sum(s.merged for s in self._subscriptions.values())

    @property
    def dropped(self) -> int:
        """Frames dropped before delivery."""
        return self._gone_dropped + sum(s.dropped for s in self._subscriptions.values())

    @property
    def waiting(self) -> int:
        """Frames awaiting delivery."""
        return sum(s.waiting for s in self._subscriptions.values())

    def subscribe(self, target: str, after_seq: int | None, store: HistoryStore) -> None:
        """Start or restart a subscription to a target, which may be still unknown.

        Raises:
            ProblemError: the subscriber has too many subscriptions.
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
        """Stop a subscription to a target."""
        subscription = self._subscriptions.pop(target, None)
        if subscription is not None:
            self._gone_coalesced += subscription.coalesced
            self._gone_dropped += subscription.dropped

    def acknowledge(self, frames: int) -> None:
        """Note the number of frames that the subscriber has processed since it connected.

        Raises:
            ProblemError: the number is impossible.
        """
        self._window.acknowledge(frames)
        self._wake.set()

    def enqueue(self, frame: StoredFrame) -> None:
        """Queue a frame if the subscriber reads the frame's target."""
        subscription = self._subscriptions.get(frame.target)
        if subscription is not None:
            subscription.enqueue(frame)
            self._wake.set()

    def enqueue_state(self, state: str) -> None:
        """Queue a change of hosts or targets."""
        self._state = state
        self._wake.set()

    def enqueue_loss(self, lost: FramesLost) -> None:
        """Queue a report of frames lost before they reached the backend."""
        subscription = self._subscriptions.get(lost.target)
        part = subscription.clip_lost(lost.from_seq, lost.to_seq) if subscription else None
        if part is not None:
            clipped = lost.model_copy(update={"from_seq": part[0], "to_seq": part[1]})
            self._enqueue_text(clipped.model_dump_json())

    def enqueue_problem(self, problem: Problem) -> None:
        """Queue the problem of a refused command."""
        self._enqueue_text(LiveProblem(problem=problem).model_dump_json())

    def enqueue_stats(self, clients: int) -> None:
        """Queue the subscriber's delivery statistics."""
        self._stats = StreamStats(
            sent=self.sent,
            coalesced=self.coalesced + self.merged,
            dropped=self.dropped,
            queue=self.waiting,
            clients=clients,
        ).model_dump_json()
        self._wake.set()

    async def next_message(self) -> str | bytes:
        """Wait for the next message: text before frames, targets in turn."""
        while True:
            message = self._next_waiting()
            if message is not None:
                return message
            self._wake.clear()
            await self._wake.wait()

    def _enqueue_text(self, text: str) -> None:
        # The oldest notice is dropped; its frames are still counted.
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
                # Move the target to the end of the queue, so that a busy target does not starve the
                # rest.
                self._subscriptions[target] = self._subscriptions.pop(target)
                self.sent += 1
                self._window.sent(len(frame.data))
                return frame.data if self.sees_arguments else frame_without(frame.data)
        return self._notes.popleft() if self._notes else None


class Fanout:
    """The connected subscribers.

    Args:
        store: store of the kept frames.

    Attributes:
        watched: targets that subscribers read.
    """

    def __init__(self, store: HistoryStore) -> None:
        self.store = store
        self.watched = WatchedTargets()
        self.frames = 0
        self.frame_bytes = 0
        self.lost = 0
        self.gaps = 0
        self._subscribers: set[Subscriber] = set()
        self._gone_coalesced = 0
        self._gone_dropped = 0
        self._gone_notices = 0

    @property
    def subscribers(self) -> int:
        """Number of connected subscribers."""
        return len(self._subscribers)

    @property
    def coalesced(self) -> int:
        """Frames coalesced for subscribers, including disconnected ones; never decreases."""
        return self._gone_coalesced + sum(subscriber.coalesced for subscriber in self._subscribers)

    @property
    def merged(self) -> int:
        """Coalesced frames awaiting delivery to subscribers."""
        return sum(subscriber.merged for subscriber in self._subscribers)

    @property
    def dropped(self) -> int:
        """Frames never delivered to a subscriber, including disconnected ones."""
        return self._gone_dropped + sum(subscriber.dropped for subscriber in self._subscribers)

    @property
    def notices_dropped(self) -> int:
        """Losses and problems not reported to a subscriber, including disconnected ones."""
        return self._gone_notices + sum(
            subscriber.notices_dropped for subscriber in self._subscribers
        )

    @property
    def queued(self) -> int:
        """Frames awaiting delivery to subscribers."""
        return sum(subscriber.waiting for subscriber in self._subscribers)

    def add(self, subscriber: Subscriber) -> None:
        """Add a connected subscriber."""
        self._subscribers.add(subscriber)

    def remove(self, subscriber: Subscriber) -> None:
        """Remove a disconnected subscriber."""
        self._subscribers.discard(subscriber)
        self._gone_coalesced += subscriber.coalesced
        self._gone_dropped += subscriber.dropped
        self._gone_notices += subscriber.notices_dropped
        self._watch()

    def subscribe(self, subscriber: Subscriber, target: str, after_seq: int | None) -> None:
        """See `Subscriber.subscribe`."""
        subscriber.subscribe(target, after_seq, self.store)
        self._watch()

    def unsubscribe(self, subscriber: Subscriber, target: str) -> None:
        """See `Subscriber.unsubscribe`."""
        subscriber.unsubscribe(target)
        self._watch()

    def _watch(self) -> None:
        self.watched.set(target for one in self._subscribers for target in one.targets)

    def publish(self, frame: StoredFrame) -> None:
        """Distribute a new frame."""
        self.frames += 1
        self.frame_bytes += len(frame.data)
        self.store.add(frame)
        for subscriber in self._subscribers:
            subscriber.enqueue(frame)

    def publish_lost(self, lost: FramesLost, count: int) -> None:
        """Report lost frames.

        Args:
            lost: message for the subscribers.
            count: number of lost frames that the backend expected.
        """
        self.lost += count
        self.gaps += count > 0
        for subscriber in self._subscribers:
            subscriber.enqueue_loss(lost)

    def publish_state(self, state: LiveState) -> None:
        """Distribute a change of hosts or targets."""
        texts: dict[bool, str] = {}
        for subscriber in self._subscribers:
            sees = subscriber.sees_arguments
            if sees not in texts:
                texts[sees] = state_text(state, sees)
            subscriber.enqueue_state(texts[sees])

    def publish_stats(self) -> None:
        """Distribute statistics; called once a second."""
        for subscriber in self._subscribers:
            subscriber.enqueue_stats(len(self._subscribers))


class SendWindow:
    """Window of frames sent to a subscriber and not yet acknowledged.

    A browser reads messages from the wire before its script handles them, so transport
    back-pressure does not reveal a slow subscriber. The window applies only to subscribers that
    acknowledge; any other is sent everything.
    """

    def __init__(self) -> None:
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self._taken = 0
        self._tells = False

    @property
    def open(self) -> bool:
        """Return True if another frame may be sent."""
        if not self._tells or not self._sizes:
            return True
        return (
            len(self._sizes) < MAX_UNACKNOWLEDGED_FRAMES and self._bytes < MAX_UNACKNOWLEDGED_BYTES
        )

    def sent(self, size: int) -> None:
        """Note a sent frame of this many bytes."""
        self._sizes.append(size)
        self._bytes += size

    def acknowledge(self, frames: int) -> None:
        """Note the number of frames that the subscriber has processed since it connected.

        Raises:
            ProblemError: the number is less than before, or exceeds the frames sent.
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
