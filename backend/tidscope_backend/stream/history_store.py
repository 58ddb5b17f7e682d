"""The histories of all targets, within one bound."""

from collections.abc import Callable

from tidscope_backend.stream.history import History
from tidscope_backend.stream.stored_frame import StoredFrame


class HistoryStore:
    """One history a target, and a bound on all of them together.

    Over it, the target that has been silent longest gives way first if it was silent for a minute
    (it has ended), else the largest one.

    Args:
        max_bytes: bound of one history.
        max_total_bytes: bound of all.
        max_age_ns: how far back one history goes.
        clock: seconds, monotonic.
    """

    SILENT_SECONDS = 60

    def __init__(
        self, max_bytes: int, max_total_bytes: int, max_age_ns: int, clock: Callable[[], float]
    ) -> None:
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._max_age_ns = max_age_ns
        self._clock = clock
        self._histories: dict[str, History] = {}
        self._fed: dict[str, float] = {}
        self._gone_coalesced = 0
        self._gone_dropped = 0

    @property
    def coalesced(self) -> int:
        """Frames merged into later ones, those of targets that are gone included."""
        return self._gone_coalesced + sum(one.coalesced for one in self._histories.values())

    @property
    def dropped(self) -> int:
        """Frames that left the histories, likewise."""
        return self._gone_dropped + sum(one.dropped for one in self._histories.values())

    @property
    def bytes(self) -> int:
        """Bytes of all kept frames."""
        return sum(history.bytes for history in self._histories.values())

    def get(self, target: str) -> History:
        """The history of a target; an empty one, not kept, if there is none."""
        return self._histories.get(target) or History(0, 0)

    def add(self, frame: StoredFrame) -> None:
        """Keep a frame."""
        history = self._histories.get(frame.target)
        if history is None:
            history = self._histories[frame.target] = History(self._max_bytes, self._max_age_ns)
        self._fed[frame.target] = self._clock()
        history.add(frame)
        while self.bytes > self._max_total_bytes and self._give_way():
            pass

    def remove(self, target: str) -> None:
        """Forget a target's frames."""
        history = self._histories.pop(target, None)
        if history is not None:
            history.clear()
            self._gone_coalesced += history.coalesced
            self._gone_dropped += history.dropped
        self._fed.pop(target, None)

    def _give_way(self) -> bool:
        kept = [target for target, history in self._histories.items() if history.bytes]
        silent = min(kept, key=lambda target: self._fed[target])
        if self._clock() - self._fed[silent] > self.SILENT_SECONDS and len(kept) > 1:
            if not self._histories[silent].shrink():
                self._histories[silent].clear()
            return True
        largest = max(kept, key=lambda target: self._histories[target].bytes)
        return self._histories[largest].shrink()
