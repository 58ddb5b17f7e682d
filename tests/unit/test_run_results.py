"""Results of runs that are given with the recording, or found in a command's output."""

import pytest
from tidscope_backend import patterns
from tidscope_backend.run_results import Metric, metric, results_of
from tidscope_wire.generated.models import RunResult

OUTPUT = """\
progress: 1.0 s, 812.2 tps
progress: 2.0 s, 1,011.5 tps
latency average = 12.5 ms
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ops=9435", Metric("ops", "more", 9435.0)),
        ("p99_ms:less=1.5e1", Metric("p99_ms", "less", 15.0)),
        ("cost=-2", Metric("cost", "neither", -2.0)),
        (r"tps:more=/([\d,.]+) tps/", Metric("tps", "more", pattern=r"([\d,.]+) tps")),
        ("a=/(=)/", Metric("a", "neither", pattern="(=)")),
    ],
)
def test_a_metric_is_a_number_or_a_pattern(text: str, wanted: Metric) -> None:
    assert metric(text) == wanted


@pytest.mark.parametrize(
    "text", ["ops", "ops=", "=5", "9=5", "a b=5", "ops=fast", "ops=nan", "ops=inf", "a:up=5"]
)
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither|number"):
        metric(text)


@pytest.mark.parametrize("text", ["a=/x/", "a=/(x)(y)/", "a=/(x/"])
def test_a_pattern_has_one_group(text: str) -> None:
    with pytest.raises(ValueError, match=r"one group|not a regular expression"):
        metric(text)


def test_the_last_match_in_the_output_counts() -> None:
    asked = [
        metric(r"tps:more=/ ([\d,.]+) tps/"),
        metric("seconds=2"),
        metric(r"latency_ms:less=/^latency average = (\S+)/"),
    ]
    assert results_of(asked, OUTPUT) == (
        [
            RunResult(name="tps", value=1011.5, better="more"),
            RunResult(name="seconds", value=2.0, better="neither"),
            RunResult(name="latency_ms", value=12.5, better="less"),
        ],
        [],
    )


def test_what_is_not_there_is_said_and_the_rest_kept() -> None:
    asked = [metric("a=/(nothing)/"), metric(r"b=/(progress)/"), metric("c=1")]
    found, missing = results_of(asked, OUTPUT)
    assert [one.name for one in found] == ["c"]
    assert missing == [
        "result a: no line of the output matches",
        "result b: 'progress' is not a number",
    ]
    assert results_of(asked[:1], None)[1] == ["result a: no line of the output matches"]


def test_a_pattern_that_takes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", 0.5)
    found, missing = results_of([metric("a=/(a+)+$/")], "a" * 64 + "b")
    assert found == []
    assert missing == ["result a: matching took more than 0.5 s"]
