"""Figures, gains and charts of made experiments, and the reports that show them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from experiment_entries import beginning, journal, repeat
from tidscope_backend.comparison.statistics import group_figure, holm, paired_difference, paired_p
from tidscope_backend.experiments.analysis import analyse, summarise
from tidscope_backend.experiments.charts_of_ratios import degradation_point, spearman, stable_point
from tidscope_backend.experiments.journal import Ended, Entry, Failed
from tidscope_backend.experiments.matrix import joined, searching_share
from tidscope_backend.experiments.picture import describe, draw_chart
from tidscope_backend.experiments.report import decide, markdown, page, parse_bound, write_report
from tidscope_backend.experiments.workload import ExperimentError
from tidscope_wire.generated.models import (
    Experiment,
    ExperimentChart,
    ExperimentFigure,
    SteeringDecided,
)

POLICIES = journal(
    [
        ({"policy": "default", "framework": "a"}, [100, 102, 98]),
        ({"policy": "default", "framework": "b"}, [50, 51, 49]),
        ({"policy": "linear", "framework": "a"}, [111, 112, 107]),
        ({"policy": "linear", "framework": "b"}, [50, 52, 49]),
    ]
)
SIZES = journal(
    [
        ({"size": size}, [{"throughput": rate + more, "wait_us": 4e5 / rate} for more in (-1, 1)])
        for size, rate in ((1, 100), (2, 198), (4, 390), (8, 396), (16, 300))
    ]
)


def analysed(entries: list[Entry]) -> Experiment:
    return analyse(entries, carried_out=False)


def chart(found: Experiment, name: str) -> ExperimentChart:
    (one,) = [one for one in found.charts if one.id == name]
    return one


def throughput(found: Experiment, key: str) -> ExperimentFigure:
    (cell,) = [one for one in found.cells if one.key == key]
    return next(one for one in cell.figures if one.name == "throughput")


def test_gains_are_those_of_a_comparison() -> None:
    found = analysed(POLICIES)
    own = throughput(found, "policy=linear framework=a")
    known = paired_difference([(100, 111), (102, 112), (98, 107)])
    assert own.gain is not None
    assert own.gain.method == "paired"
    assert (own.gain.absolute, own.gain.low, own.gain.high) == (
        known.absolute,
        known.low,
        known.high,
    )
    assert own.gain.verdict == "better"
    other = throughput(found, "policy=linear framework=b").gain
    assert other is not None
    assert other.verdict == "unclear"
    assert throughput(found, "policy=default framework=a").gain is None
    gains = chart(found, "gains")
    assert gains.x == ["framework=a", "framework=b", "mean of all"]
    (series,) = gains.series
    assert series.name == "linear"
    assert series.points[0].mean == pytest.approx(10)
    assert series.points[0].low == pytest.approx(known.low)
    assert series.points[2].mean == pytest.approx((10 + 100 * (151 / 150 - 1)) / 2)


def test_p_is_corrected_for_the_number_of_comparisons() -> None:
    gains = [throughput(analysed(POLICIES), f"policy=linear framework={one}") for one in "ab"]
    single = [
        paired_p([(100, 111), (102, 112), (98, 107)]),
        paired_p([(50, 50), (51, 52), (49, 49)]),
    ]
    assert single == [pytest.approx(0.0033, abs=2e-4), pytest.approx(0.4226, abs=1e-4)]
    assert [one.comparisons for one in gains] == [2, 2]
    assert gains[0].adjusted_p == pytest.approx(2 * (single[0] or 0))
    assert gains[1].adjusted_p == pytest.approx(single[1])
    text = markdown(analysed(POLICIES))
    assert "better, p = 0.0066 of 2 (Holm)" in text
    assert "no difference shown, p = 0.42 of 2 (Holm)" in text
    alone = journal([({"policy": "default"}, [10, 11]), ({"policy": "linear"}, [12, 14])])
    assert "Holm) |" not in markdown(analysed(alone))


def test_holm_s_correction() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
    assert paired_p([(1, 2)]) is None
    assert paired_p([(1, 2), (3, 4)]) == 0.0
    assert paired_p([(1, 1), (3, 3)]) == 1.0


def decided(
    at_s: float, size: int, next_size: int, *, probing: bool = False, deferred: bool = False
) -> SteeringDecided:
    return SteeringDecided(
        policy="linear",
        number=1,
        at_ns=round(at_s * 1e9),
        elapsed_s=1.0,
        ops=1.0,
        mean_wait_s=None,
        size=size,
        next_size=next_size,
        proposed=None,
        state="",
        reason="",
        counted=True,
        probing=probing,
        deferred=deferred,
    )


def test_the_share_of_the_time_that_a_policy_searched() -> None:
    made = [
        decided(10, 4, 4, deferred=True),  # 1 s: it cannot choose yet.
        decided(11, 4, 3, probing=True),  # 2 s: a size is tried.
        decided(13, 3, 4),  # 1 s: the best is set, and measured.
        decided(14, 4, 4),  # 4 s: it rests until the run ends.
    ]
    assert searching_share(made, round(18e9)) == 0.5
    assert searching_share([], round(18e9)) is None
    parts: list[Mapping[str, float]] = [{"searching_share": 0.5}, {"searching_share": 0.0}]
    assert joined(parts) == {"searching_share": 0.25}


def test_the_short_variant_says_so() -> None:
    found = analysed([beginning([{}], short=True)])
    assert found.summary.preset == "short"
    assert "This is the short variant" in " ".join(found.warnings)


def test_what_drifts_is_in_no_gain() -> None:
    """A machine that gets slower from round to round, and a policy that adds a tenth in each."""
    entries = journal([({"policy": "default"}, []), ({"policy": "linear"}, [])])
    for level in (1000.0, 500.0, 250.0):
        entries += [
            repeat("policy=linear", {"throughput": 1.1 * level}),
            repeat("policy=default", {"throughput": level}),
        ]
    own = throughput(analysed(entries), "policy=linear")
    assert own.gain is not None
    assert own.gain.percent == pytest.approx(10)
    assert own.gain.verdict == "unclear"  # A tenth of what changes by half is not the same amount.
    entries += [
        repeat(f"policy={policy}", {"throughput": level + more})
        for level in (400.0, 800.0)
        for policy, more in (("default", 0.0), ("linear", 60.0))
    ]
    gain = throughput(analysed(entries), "policy=linear").gain
    assert gain is not None
    assert gain.verdict == "better"


def test_a_failed_repeat_leaves_its_round_out() -> None:
    entries = journal([({"policy": "default"}, [100.0, 200.0, 300.0]), ({"policy": "linear"}, [])])
    entries += [
        repeat("policy=linear", {"throughput": 110.0}),
        Failed("policy=linear", 1, 1.0, "it crashed"),
        repeat("policy=linear", {"throughput": 310.0}),
    ]
    own = throughput(analysed(entries), "policy=linear")
    assert own.figure.values == [110.0, 310.0]
    assert own.gain is not None
    assert (own.gain.absolute, own.gain.percent, own.gain.low) == (10.0, 5.0, 10.0)


def test_the_best_policy_is_named_and_what_is_shown_to_be_below_it() -> None:
    entries = journal(
        [
            ({"policy": "default"}, [100, 200, 300]),
            ({"policy": "linear"}, [129, 240, 331]),
            ({"policy": "arbiter"}, [130, 231, 329]),
            ({"policy": "hillclimb"}, [140, 241, 341]),
        ]
    )
    note = chart(analysed(entries), "gains").note
    assert note.endswith(
        "hillclimb did the most; shown to be below it: default, arbiter; not shown: linear."
    )
    assert "did the most" not in chart(analysed(POLICIES), "gains").note


def test_bars_stand_by_policy() -> None:
    bars = chart(analysed(POLICIES), "throughput-by-policy")
    assert (bars.kind, bars.x) == ("bars", ["framework=a", "framework=b"])
    assert [one.name for one in bars.series] == ["default", "linear"]
    assert bars.series[1].points[0].values == [111, 112, 107]


def test_policies_alone_have_the_axis() -> None:
    entries = journal([({"policy": "default"}, [10, 10]), ({"policy": "linear"}, [12, 12])])
    found = analysed(entries)
    bars = chart(found, "throughput-by-policy")
    assert bars.x == ["default", "linear"]
    assert [point.mean for point in bars.series[0].points] == [10, 12]
    assert chart(found, "gains").x == ["all"]


def test_sizes_have_lines_speed_up_and_rait() -> None:
    found = analysed(SIZES)
    lines = chart(found, "throughput-by-size")
    assert (lines.kind, lines.x) == ("lines", ["1", "2", "4", "8", "16"])
    assert lines.note == "stable point 4, degradation point 16."
    speed, ideal = chart(found, "speed-up").series
    assert [round(point.mean, 2) for point in speed.points] == [1, 1.98, 3.9, 3.96, 3]
    assert [point.mean for point in ideal.points] == [1, 2, 4, 8, 16]
    rait = chart(found, "rait")
    assert [round(point.mean, 2) for point in rait.series[0].points] == [1, 1.98, 3.9, 3.96, 3]
    assert "(Spearman) 1.00, up to the stable point 1.00." in rait.note
    assert not any(one.id == "gains" for one in found.charts)


def test_without_size_1_there_is_nothing_to_divide_by() -> None:
    entries = journal([({"size": size}, [{"throughput": 1.0, "wait_us": 1.0}]) for size in (2, 4)])
    assert {one.id for one in analysed(entries).charts} == {"throughput-by-size"}


def test_what_is_unknown_is_not_there() -> None:
    found = analysed(POLICIES)
    assert {one.name for cell in found.cells for one in cell.figures} == {"throughput"}
    assert not any("ops_per_j" in one.id for one in found.charts)


def test_warnings_say_what_does_not_stand() -> None:
    entries = journal(
        [({"size": 1}, [1.0, 2.0, 3.0, 9.0]), ({"size": 2}, [5.0, 5.0]), ({"size": 4}, [])],
        quick=True,
        setup={"frequency governor": "powersave"},
    )
    steal = "The hypervisor took 9% of the CPU time (steal)."
    entries += [Failed("size=4", 1, 1.0, "it crashed")] * 3
    entries += [repeat("size=2", {"throughput": 5.0}, steal), Ended(1, interrupted=True)]
    found = analysed(entries)
    text = " ".join(found.warnings)
    for said in (
        "quick variant",
        "powersave",
        "In 1 cell the",
        "1 cell failed: size=4",
        "Disturbed repeats: 1 of 7",
    ):
        assert said in text
    assert "interrupted" in text
    assert [one.standing for one in found.cells] == ["maximum", "steady", "failed"]
    assert found.cells[1].warnings == [f"{steal} (1 repeat)"]
    assert found.summary.state == "complete"
    shown = markdown(found)
    assert "a repeat failed: it crashed" in shown
    assert "| size=4 | unknown |" in shown


def test_progress_of_a_beginning() -> None:
    entries = [beginning([{"size": 1}, {"size": 2}])]
    now = summarise(entries, carried_out=True)
    assert (now.state, now.cells_done, now.least_left, now.most_left) == ("running", 0, 4, 8)
    assert now.left_s == 4 * 3.0
    assert summarise(entries, carried_out=False).left_s is None


def test_rank_correlation() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ties: 0.9487 by the formula of Pearson over mean ranks.
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)
    assert spearman([1, 1], [1, 2]) is None
    assert spearman([1], [1]) is None


TARGETS = journal(
    [
        ({"target": target}, [{"throughput": done, "p95_us": latency, **shares}] * 2)
        for target, done, latency, shares in (
            (1000, 1000.0, 50.0, {"share_running": 0.25, "share_sleep": 0.75}),
            (2000, 1990.0, 60.0, {"share_running": 0.5, "share_sleep": 0.5}),
            (4000, 2500.0, 900.0, {"share_running": 1.0, "share_sleep": 0.0}),
        )
    ]
)


def test_latency_stands_at_what_was_achieved_up_to_the_knee() -> None:
    found = analysed(TARGETS)
    asked = chart(found, "throughput-by-target")
    assert "targets are kept up to 2000: the knee." in asked.note
    assert [one.name for one in asked.series] == ["", "asked for"]
    curve = chart(found, "p95_us-by-throughput")
    assert (curve.kind, curve.x) == ("curve", ["1000", "2000", "4000"])
    assert [(one.at, one.mean) for one in curve.series[0].points] == [
        (1000.0, 50.0),
        (1990.0, 60.0),
        (2500.0, 900.0),
    ]
    assert "at 1,990 (of 2000) 60" in describe(curve)
    drawn = ET.fromstring(draw_chart(curve))
    marks = [one for one in drawn.iter("{http://www.w3.org/2000/svg}circle") if one.get("r") == "5"]
    places = [float(one.get("cx", "0")) for one in marks]
    # Between the first and the last one as far as they are apart.
    assert (places[1] - places[0]) / (places[2] - places[0]) == pytest.approx(0.66, abs=0.01)


def test_where_the_time_went_is_a_whole() -> None:
    stacked = chart(analysed(TARGETS), "time")
    assert [one.name for one in stacked.series] == ["Running", "Sleeping"]
    for at in range(3):
        assert sum(one.points[at].mean for one in stacked.series) == pytest.approx(1)
    drawn = ET.fromstring(draw_chart(stacked))
    bars = [one for one in drawn.iter("{http://www.w3.org/2000/svg}rect") if one.get("y")]
    heights = sum(float(one.get("height", "0")) for one in bars)
    # Three columns, each as high as the plot.
    assert heights == pytest.approx(3 * 280, abs=1)


def test_points_of_a_curve() -> None:
    flat = {float(size): group_figure([100.0, 101.0, 99.0]) for size in (1, 2, 4)}
    assert (stable_point(flat), degradation_point(flat)) == (1, None)
    assert (stable_point({}), degradation_point({})) == (None, None)
    # No difference is significant without an interval.
    alone = {1.0: group_figure([100.0]), 2.0: group_figure([50.0])}
    assert degradation_point(alone) is None


@pytest.mark.parametrize(
    ("text", "fails", "is_open"),
    [
        ("throughput < 20%", True, False),
        ("throughput < 10%", False, True),
        ("throughput < -3%", False, False),
        ("throughput > 3%", True, False),
        ("throughput>-30%", True, False),
        ("throughput > +30.5%", False, False),
    ],
)
def test_bounds_are_decided_by_the_interval(text: str, fails: bool, is_open: bool) -> None:
    decisions = decide(analysed(POLICIES), [parse_bound(text)])
    (one,) = [one for one in decisions if one.cell == "policy=linear framework=a"]
    assert (one.fails, one.is_open) == (fails, is_open)
    assert one.low < 10 < one.high


@pytest.mark.parametrize("text", ["throughput", "speed < 1%", "throughput < 1", "throughput = 1%"])
def test_a_wrong_bound_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match="use FIGURE < NUMBER%"):
        parse_bound(text)


def test_a_bound_without_a_baseline_is_refused() -> None:
    with pytest.raises(ExperimentError, match="no cell has an interval"):
        decide(analysed(SIZES), [parse_bound("throughput < 0%")])


class Tags(HTMLParser):
    """All start tags, and what is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.mark.parametrize("entries", [POLICIES, SIZES])
def test_reports_show_the_same_numbers(entries: list[Entry], tmp_path: Path) -> None:
    found = analysed(entries)
    write_report(tmp_path, found, entries)
    text = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.tags.count("svg") == len(found.charts) >= 2
    assert tags.outside == []
    for one in found.charts:
        root = ET.fromstring((tmp_path / f"{one.id}.svg").read_text())
        assert root.get("aria-label") == describe(one)
        assert f"({one.id}.svg)" in (tmp_path / "report.md").read_text()
    raw = pq.read_table(tmp_path / "repeats.parquet")
    assert raw.num_rows == found.summary.repeats
    assert raw.column("throughput").to_pylist() == [
        value for cell in found.cells for value in throughput(found, cell.key).figure.values
    ]
    assert raw.column("cell").to_pylist()[0] == found.cells[0].key


def test_throughputs_of_several_programs_have_their_names() -> None:
    figures = [{"throughput": 20.0, "throughput_1": 40.0, "throughput_2": 10.0}] * 2
    found = analysed(journal([({"size": 1}, figures)], workloads=["web", "parallel"]))
    labels = [one.label for one in found.cells[0].figures]
    assert labels == ["Throughput", "Throughput of web", "Throughput of parallel"]
    assert "| Throughput of parallel, 1/s |" in markdown(found)


def test_no_difference_looks_like_one() -> None:
    text = page(analysed(POLICIES))
    assert "no difference shown" in text
    assert "+10.0 % [+7.5, +12.5] better" in text


def test_names_of_a_file_are_no_markup() -> None:
    entries = journal([({"framework": "<b>"}, [1.0, 1.0])], title="<script>", workloads=["<i>"])
    found = analysed(entries)
    assert "<script>" not in page(found)
    assert "<b>" not in page(found)
    for one in found.charts:
        ET.fromstring(draw_chart(one))


def test_negative_gains_and_wide_intervals_are_drawn_within_the_picture() -> None:
    entries = journal(
        [({"policy": "default"}, [100, 160]), ({"policy": "linear"}, [20, 90])], least=2
    )
    drawn = ET.fromstring(draw_chart(chart(analysed(entries), "gains")))
    heights = [float(one.get("y2", "0")) for one in drawn.iter("{http://www.w3.org/2000/svg}line")]
    assert heights
    assert all(80 <= one <= 380 for one in heights)


def test_an_experiment_is_an_answer_of_the_schema() -> None:
    found = analysed(SIZES)
    assert Experiment.model_validate(json.loads(found.model_dump_json())) == found
