"""Numbers that commands print."""

import pytest
from tidscope_backend.experiments.printed import is_printed, printed_value
from tidscope_backend.experiments.variants import compared_figure

BENCHMARKS = "BenchmarkOne-2 \t 10 \t 100 ns/op\nBenchmarkTwo \t 5 \t 400.0 ns/op\nok\n"


def test_benchmarks_have_a_geometric_mean() -> None:
    figure = compared_figure("go-bench")
    assert is_printed(figure)
    assert printed_value(figure, BENCHMARKS) == pytest.approx(200)
    with pytest.raises(ValueError, match="no benchmark gave ns/op: PASS"):
        printed_value(figure, "PASS\n")


def test_the_last_match_of_an_expression_counts() -> None:
    figure = compared_figure("rate:more=/rate ([0-9.,]+)/")
    assert is_printed(figure)
    assert printed_value(figure, "rate 1\nrate 2,000.5\n") == 2000.5
    with pytest.raises(ValueError, match="result rate: no line of the output matches"):
        printed_value(figure, "PASS\n")
    assert not is_printed(compared_figure("wall"))
