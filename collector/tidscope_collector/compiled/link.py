"""A connection that compiled code writes frames to, in another thread than the event loop's."""

import threading
from types import TracebackType

from tidscope_collector.compiled.library import load
from tidscope_collector.compiled.structs import LINK, Struct

_NONE = 2**64 - 1
_COMPILED = load()  # now: files cannot be opened once the collector has confined itself


class Link:
    """Who writes to the connection holds it, by a ``with`` statement.

    Attributes:
        shared: struct link; None: compiled code writes to none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.shared = None if _COMPILED is None else Struct(LINK)
        self.refuse()

    def __enter__(self) -> "Link":
        if _COMPILED is None or self.shared is None:
            self._lock.acquire()
        else:
            _COMPILED.lock(self.shared.address)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Hold it no more."""
        if _COMPILED is None or self.shared is None:
            self._lock.release()
        else:
            _COMPILED.unlock(self.shared.address)

    def accept(self, descriptor: int) -> None:
        """Let compiled code write to a socket; call it while holding the link."""
        if self.shared is not None:
            self.shared["socket"] = descriptor

    def refuse(self) -> None:
        """Let compiled code write nothing; call it while holding the link."""
        if self.shared is not None:
            self.shared["socket"] = _NONE

    def take_rest(self) -> int:
        """How many bytes of its last message compiled code could not write.

        It holds the link since then, if there are any: whoever asks goes on with that.
        """
        if self.shared is None:
            return 0
        rest, self.shared["rest_bytes"] = self.shared["rest_bytes"], 0
        return rest
