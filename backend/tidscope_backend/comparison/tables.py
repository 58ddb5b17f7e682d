"""What a comparison reads of a run, or of a window of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from tidscope_wire.generated.models import RunEvent, RunManifest

from tidscope_backend.comparison.pool_totals import PoolTotals
from tidscope_backend.comparison.windows import Window, side_id


@dataclass(frozen=True)
class Slice:
    """One of the equally long parts of a window.

    Attributes:
        duration_ns: from its first frame to its last.
        threads: as in RunTables, of this part.
        pools: the same.
    """

    duration_ns: int
    threads: pa.Table
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)


@dataclass(frozen=True)
class RunTables:
    """One run or window, as read.

    Attributes:
        manifest: what was recorded; of a window with its times and the policies in it.
        threads: a row a thread's life, as in docs/runs.md.
        signals: a row an instant, ascending.
        events: those of steering at least, by time.
        pools: of workers, by name.
        window: what of the run it is, as requested; None: all.
        slices: of a window that is long enough, in order.
    """

    manifest: RunManifest
    threads: pa.Table
    signals: pa.Table
    events: Sequence[RunEvent]
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)
    window: Window | None = None
    slices: Sequence[Slice] = ()

    @property
    def id(self) -> str:
        """Its identity in the comparison."""
        return side_id(self.manifest.id, self.window)

    @property
    def name(self) -> str:
        """For people: the run's, and which part of it."""
        name = self.manifest.name or self.manifest.id
        return name if self.window is None else f"{name} {self.window.label}"

    @property
    def duration_ns(self) -> int:
        """From its first frame to its last."""
        return max(0, self.manifest.to_ns - self.manifest.from_ns)


class ComparisonError(ValueError):
    """These runs cannot be compared like this; the text says why and what to do."""
