"""Time in a flame graph that says nothing of the program's own code: Go's scheduler. Pure."""

from tidscope_backend.stacks.graphs import Flame
from tidscope_backend.stacks.trees import ROOT

LEAST_SHARE = 0.2
"""Share of the time from which it is worth a sentence."""
GO_SCHEDULER = "runtime.schedule"
"""Function in which a thread of a Go program looks for a goroutine, or sleeps meanwhile."""


def note_of(found: Flame) -> str:
    """Return what the graph cannot show, one sentence; empty if there is nothing of that kind."""
    tree, times = found.tree, found.times
    inside = [False] * len(tree.parent)
    scheduler_ns = 0.0
    for node, (parent, code) in enumerate(zip(tree.parent, tree.code, strict=True)):
        above = parent != ROOT and inside[parent]
        inside[node] = above or (code.kind == "go" and code.function == GO_SCHEDULER)
        if inside[node] and not above:
            scheduler_ns += float(times.ns[node])
    if found.exact_ns <= 0 or scheduler_ns < LEAST_SHARE * found.exact_ns:
        return ""
    return (
        f"{scheduler_ns / found.exact_ns:.0%} is Go's scheduler without work: goroutines wait "
        "without a thread, so their code is not seen here. The panel Goroutines shows it by the "
        "program's own profiles (--ask-programs)."
    )
