"""What readers that stand over another one have from it."""

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import CountersSource

from tidscope_collector.threads.reading import TargetReader


class WrappingReader:
    """The part of a `TargetReader` that is its base's.

    Args:
        base: what is read.
    """

    def __init__(self, base: TargetReader) -> None:
        self.base = base

    @property
    def listed(self) -> npt.NDArray[np.uint32]:
        return self.base.listed

    @property
    def asked(self) -> int:
        return self.base.asked

    @property
    def source(self) -> CountersSource:
        return self.base.source

    @property
    def reason(self) -> str:
        return self.base.reason

    @property
    def disagreement(self) -> str | None:
        return self.base.disagreement

    def expect_rate(self, rate_hz: float) -> None:
        """So many readings a second are asked for, from now on."""
        self.base.expect_rate(rate_hz)
