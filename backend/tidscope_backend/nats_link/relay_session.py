"""A backend's session, at the host: what it watches, and how far its frames have come. Pure."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from tidscope_wire.generated.models import FramesLost

from tidscope_backend.nats_link.envelopes import DATA, FRAME, Inbound, Outbound
from tidscope_backend.nats_link.kept_frames import KeptFrames

WINDOW_BYTES = 8 * 1024 * 1024
"""Maximum bytes of frames that a backend has not confirmed; further ones wait among the kept."""
GONE = "nobody watched them over NATS, and the host does not have them any more"


class RelaySession:
    """One backend that is connected to a host.

    Args:
        publish: sends one NATS message to the backend.
        now_s: when the session began, in seconds.

    Attributes:
        inbound: joins what the backend sends.
        heard_s: when the backend was heard last.
        ticket: opens the data connection; None before the backend's welcome.
        watched: targets whose frames are sent: read by pages, or recorded.
    """

    def __init__(self, publish: Callable[[bytes], None], now_s: float) -> None:
        self._publish = publish
        self._outbound = Outbound()
        self.inbound = Inbound()
        self.heard_s = now_s
        self.ticket: str | None = None
        self.watched: frozenset[str] = frozenset()
        self._read: frozenset[str] = frozenset()
        self._reached: dict[str, int] = {}
        self._in_flight: dict[str, deque[tuple[int, int]]] = {}
        self._bytes = 0

    def send(self, kind: bytes, body: bytes) -> None:
        """Send a message."""
        for part in self._outbound.parts(kind, body):
            self._publish(part)

    def resume(self, reached: Mapping[str, int]) -> None:
        """Note the frames that the backend has already."""
        self._reached = dict(reached)

    def watch(self, read: Iterable[str], recorded: Iterable[str]) -> None:
        """Replace the targets whose frames are sent: those that pages read, and recorded ones."""
        self._read = frozenset(read)
        self.watched = self._read.union(recorded)

    def confirm(self, received: Mapping[str, int]) -> None:
        """Note that the backend has frames."""
        for target, seq in received.items():
            waiting = self._in_flight.get(target, deque())
            while waiting and waiting[0][0] <= seq:
                self._bytes -= waiting.popleft()[1]

    def advance(self, kept: Mapping[str, KeptFrames], targets: Iterable[str]) -> int:
        """Send frames that the backend lacks, as far as its window has room; return how many."""
        return sum(self._advance(target, kept[target]) for target in targets if target in kept)

    def forget(self, target: str, last_seq: int) -> None:
        """Name what a watching backend did not get of a target, which the host forgets now."""
        reached = self._reached.pop(target, 0)
        if target in self.watched and reached < last_seq:
            self._name_lost(target, reached + 1, last_seq)
        self.confirm({target: last_seq})

    def _advance(self, target: str, kept: KeptFrames) -> int:
        if target not in self.watched:
            return 0
        reached, sent = self._reached.get(target, 0), 0
        # Pages want the past; a recording begins now.
        begins = not reached and target not in self._read
        for frame in kept.newest() if begins else kept.behind(reached):
            if self._bytes > WINDOW_BYTES:
                break
            # A reader without frames expects none before the first one, the baseline apart.
            if reached and frame.first_seq > reached + 1:
                self._name_lost(target, reached + 1, frame.first_seq - 1)
            self.send(FRAME, frame.data)
            self._bytes += len(frame.data)
            self._in_flight.setdefault(target, deque()).append((frame.seq, len(frame.data)))
            sent += 1
            if frame.seq >= kept.first_seq:
                reached = frame.seq
        self._reached[target] = reached
        return sent

    def _name_lost(self, target: str, first: int, last: int) -> None:
        lost = FramesLost(target=target, from_seq=first, to_seq=last, reason=GONE)
        self.send(DATA, lost.model_dump_json().encode())
