"""Figures of a repeat: their names, labels and units, and which way is an improvement."""

from dataclasses import dataclass
from typing import Literal

from tidscope_wire.generated.models import Better

from tidscope_backend.state_groups import GROUPS


@dataclass(frozen=True)
class FigureName:
    """A figure.

    Attributes:
        name: in journals.
        label: in words.
        unit: "" if it has none.
        better: which way is an improvement.
        kind: of throughput; what a run shows (`cost`); of the machine (`conditions`).
    """

    name: str
    label: str
    unit: str
    better: Better
    kind: Literal["result", "cost", "conditions"]


THROUGHPUT = "throughput"
WAIT = "wait_us"
CHOSEN = "chosen_share"
"""Part of the measured time after the policy first chose the size of each program."""
FIGURES = (
    FigureName(THROUGHPUT, "Throughput", "1/s", "more", "result"),
    FigureName("throughput_1", "Throughput of the first program", "1/s", "more", "result"),
    FigureName("throughput_2", "Throughput of the second program", "1/s", "more", "result"),
    FigureName("throughput_3", "Throughput of the third program", "1/s", "more", "result"),
    FigureName("throughput_4", "Throughput of the fourth program", "1/s", "more", "result"),
    FigureName("p50_us", "Latency, median", "µs", "less", "result"),
    FigureName("p95_us", "Latency, p95", "µs", "less", "result"),
    FigureName("p99_us", "Latency, p99", "µs", "less", "result"),
    FigureName("deviation_us", "Latency, standard deviation", "µs", "less", "result"),
    FigureName("mean_us", "Latency, mean", "µs", "less", "result"),
    FigureName("jitter_us", "Jitter", "µs", "less", "result"),
    FigureName("lost_share", "Lost datagrams", "share", "less", "result"),
    FigureName(WAIT, "Queue wait (AIT)", "µs", "less", "result"),
    FigureName("errors", "Failed requests", "", "less", "result"),
    FigureName("size_at_end", "Size at the end", "", "neither", "result"),
    FigureName(CHOSEN, "Time after the policy's first choice", "share", "neither", "result"),
    FigureName("mean_cores", "CPU use", "cores", "neither", "cost"),
    FigureName("ops_per_cpu_s", "Operations per CPU second", "1/s", "more", "cost"),
    FigureName("cpu_delay", "Run-queue delay", "s/s", "less", "cost"),
    FigureName("switches", "Context switches", "1/s", "neither", "cost"),
    FigureName("net_bytes", "Network", "bytes/s", "neither", "cost"),
    FigureName("moved_bytes", "Data moved, by the load", "bytes/s", "more", "cost"),
    FigureName("net_counted_share", "Network, of what curl says", "share", "neither", "cost"),
    FigureName("wakeups", "Wake-ups of its threads", "1/s", "neither", "cost"),
    FigureName("parks", "Parks of workers", "1/s", "neither", "cost"),
    FigureName("steals", "Steals", "1/s", "neither", "cost"),
    FigureName("idle_wakeups", "Futile wake-ups of workers", "1/s", "less", "cost"),
    FigureName("rings", "Rings of io_uring", "", "neither", "cost"),
    FigureName("ring_submissions", "Submissions to io_uring", "1/s", "neither", "cost"),
    FigureName("ring_completions", "Completions of io_uring", "1/s", "neither", "cost"),
    FigureName("power_w", "Package power", "W", "neither", "cost"),
    FigureName("ops_per_j", "Operations per joule", "1/J", "more", "cost"),
    *(
        FigureName(f"share_{group.id}", f"Share of time: {group.label}", "share", "neither", "cost")
        for group in GROUPS
    ),
    FigureName("steal_share", "Steal", "share", "less", "conditions"),
    FigureName("other_share", "CPU time of other programs", "share", "less", "conditions"),
)
BY_NAME = {one.name: one for one in FIGURES}
