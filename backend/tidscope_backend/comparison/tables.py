"""What a comparison reads of a run: its manifest and three tables, and none of its samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from tidscope_wire.generated.models import RunEvent, RunManifest

from tidscope_backend.comparison.pool_totals import PoolTotals


@dataclass(frozen=True)
class RunTables:
    """One run, as read.

    Attributes:
        manifest: what was recorded.
        threads: a row a thread's life, as in docs/runs.md.
        signals: a row an instant, ascending.
        events: those of steering at least, by time.
        pools: of workers, by name.
    """

    manifest: RunManifest
    threads: pa.Table
    signals: pa.Table
    events: Sequence[RunEvent]
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its identity."""
        return self.manifest.id

    @property
    def duration_ns(self) -> int:
        """From its first frame to its last."""
        return max(0, self.manifest.to_ns - self.manifest.from_ns)


class ComparisonError(ValueError):
    """These runs cannot be compared like this; the text says why and what to do."""
