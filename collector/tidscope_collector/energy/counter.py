"""One energy counter that wraps around, made into a total that only grows."""

from dataclasses import dataclass

import numpy as np
from tidscope_wire.rates import increases

MAX_WATTS = 4_000
"""More than any package, and most platforms, can take.

A counter that fell has either wrapped around or was reset (driver loaded again, machine slept).
What would need more power than this was a reset.
"""


@dataclass(slots=True)
class Counter:
    """A total from readings.

    Attributes:
        range_uj: the zone's max_energy_range_uj.
        total_uj: energy since the first reading, as far as it is known.
        gaps: times that it is not known what was added since the reading before.
    """

    range_uj: int
    total_uj: int = 0
    gaps: int = 0
    _last_uj: int | None = None
    _last_ns: int = 0

    def advance(self, value_uj: int, now_ns: int) -> None:
        """Take a reading in, at a moment on a clock that only runs forward."""
        if self._last_uj is not None and now_ns > self._last_ns:
            # The counter is a hardware register of 32 bits, scaled. It wraps one unit (about 61 µJ)
            # above `range_uj`, an error that is left in.
            gained = increases(
                np.array([self._last_ns, now_ns]),
                np.array([self._last_uj, value_uj], np.float64),
                wraps_at=self.range_uj,
                max_per_s=MAX_WATTS * 1e6,
            )[1]
            if np.isnan(gained):
                self.gaps += 1
            else:
                self.total_uj += int(gained)
        self._last_uj, self._last_ns = value_uj, now_ns
