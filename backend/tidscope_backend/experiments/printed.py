"""Numbers in the output of a command: by a regular expression, or of Go's benchmarks."""

import math
import re

from tidscope_backend.experiments.variants import GO_BENCH, ComparedFigure
from tidscope_backend.run_results import results_of

NS_PER_OP = re.compile(r"^Benchmark\S*\s.*?([0-9.]+) ns/op", re.MULTILINE)
SHOWN = 1000
"""Maximum characters shown of an output without a number: its end."""


def is_printed(figure: ComparedFigure) -> bool:
    """Return True if a command prints the figure."""
    return figure.result is not None or figure.name == GO_BENCH.name


def printed_value(figure: ComparedFigure, output: str) -> float:
    """Return a figure from the output of a run.

    The figure of Go's benchmarks is the geometric mean of ns/op of all lines that begin with
    `Benchmark`.

    Raises:
        ValueError: the output lacks it; the text says so.
    """
    if figure.result is not None:
        results, missing = results_of([figure.result], output)
        if not results:
            raise ValueError(missing[0])
        return results[0].value
    found = [float(one) for one in NS_PER_OP.findall(output)]
    if not found or min(found) <= 0:
        raise ValueError(f"no benchmark gave ns/op: {output.strip()[-SHOWN:]}")
    return math.exp(math.fsum(map(math.log, found)) / len(found))
