"""Which frames of a target have come, and which are missing."""

from typing import NamedTuple


class Arrival(NamedTuple):
    """What a frame's numbers say.

    Attributes:
        new: whether it brings anything that had not come.
        missing: first and last number that were skipped, if any were.
    """

    new: bool
    missing: tuple[int, int] | None


class Sequence:
    """The numbers of one target's stream. What came before the first frame seen is not missing.

    The baseline does not count as the first frame: to a backend that starts later the collector
    sends it before the frames that it still has, and what lies between was never expected.
    """

    def __init__(self) -> None:
        self.last_seq: int | None = None
        self._has_baseline = False

    def accept(self, first_seq: int, seq: int, *, baseline: bool = False) -> Arrival:
        """Take account of a frame that stands for first_seq to seq."""
        last = self.last_seq
        if baseline and last is None:
            new, self._has_baseline = not self._has_baseline, True
            return Arrival(new=new, missing=None)
        if last is not None and seq <= last:
            return Arrival(new=False, missing=None)
        self.last_seq = seq
        if last is None or first_seq <= last + 1:
            return Arrival(new=True, missing=None)
        return Arrival(new=True, missing=(last + 1, first_seq - 1))

    def skip(self, from_seq: int, to_seq: int) -> int:
        """The collector says that these will not come.

        Returns:
            How many of them were expected: none of them if no frame was ever seen.
        """
        if self.last_seq is None or to_seq <= self.last_seq:
            return 0
        count = to_seq - max(from_seq, self.last_seq + 1) + 1
        self.last_seq = to_seq
        return count
