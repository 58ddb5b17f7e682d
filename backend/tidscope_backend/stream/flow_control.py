"""How far a page may be behind what it was sent."""

from collections import deque

from tidscope_wire.generated.limits import MAX_UNACKNOWLEDGED_BYTES, MAX_UNACKNOWLEDGED_FRAMES
from tidscope_wire.problems import refusal


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
