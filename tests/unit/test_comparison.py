"""A comparison of runs whose numbers were made up, compared with what they add up to."""

from dataclasses import replace
from typing import Any

import pytest
from compared_runs import Instant, Life, decided, event, manifest, policy, run_id, tables, threads
from run_builders import losses
from tidscope_backend.comparison.compare import compare, setup_differences
from tidscope_backend.comparison.series import MAX_POINTS
from tidscope_backend.comparison.sides import ComparisonError, Correction, RunTables, Window
from tidscope_wire.generated.models import (
    ComparedMetric,
    ComparedSeries,
    Comparison,
    RunMark,
    RunResult,
    SteeringStarted,
)

LIVES = [
    Life("worker-#", (1_000, 10, None), (4_000_001_000, 60, None)),
    Life("worker-#", (0, 0, None), (2_000_000_000, 20, None)),
    Life("main", (500, 5, None), (1_000_000_500, 5, None)),
]


def metric(found: Comparison, name: str, role: str | None = None) -> ComparedMetric:
    """A row of the table."""
    (row,) = [one for one in found.metrics if (one.metric, one.role) == (name, role)]
    return row


def values(found: Comparison, name: str, role: str | None = None) -> list[list[float | None]]:
    """Values of each run of each group."""
    return [group.values for group in metric(found, name, role).groups]


def curve(found: Comparison, run: int, name: str, role: str | None = None) -> ComparedSeries:
    """A curve."""
    key = (run_id(run), name, role)
    (one,) = [one for one in found.series if (one.run, one.metric, one.role) == key]
    return one


def test_totals_of_process_and_roles() -> None:
    found = compare([[tables(1, LIVES)], [tables(2, LIVES[1:])]], basis="totals")
    assert values(found, "cpu_run_ns") == [[7e9], [3e9]]
    assert values(found, "cpu_run_ns", "worker-#") == [[6e9], [2e9]]
    assert values(found, "cpu_run_ns", "main") == [[1e9], [1e9]]
    assert values(found, "voluntary_switches") == [[70], [20]]
    assert values(found, "threads") == [[3], [2]]
    assert values(found, "threads", "worker-#") == [[2], [1]]
    assert values(found, "duration_s") == [[10], [10]]
    assert values(found, "mean_cores") == [[0.7], [0.3]]
    (reported,) = metric(found, "cpu_run_ns").differences
    assert reported.absolute == -4e9
    assert reported.percent == pytest.approx(-400 / 7)
    for name in ("cpu_run_ns", "voluntary_switches", "threads"):
        for run in (0, 1):
            parts = [values(found, name, role.label)[run][0] or 0 for role in found.roles]
            assert sum(parts) == values(found, name)[run][0]


def test_runs_of_different_length_are_compared_by_rates() -> None:
    # One program, recorded for 10 s and for 30 s: 0.5 s of CPU time and 40 switches a second.
    short = tables(1, [Life("main", (0, 0, 0), (5_000_000_000, 400, None))])
    long = tables(2, [Life("main", (0, 0, 0), (15_000_000_000, 1200, None))], to_ns=35_000_000_000)
    found = compare([[short], [long]])
    assert (found.basis, found.same_length) == ("rates", False)
    for name, rate in (("cpu_run_ns", 5e8), ("voluntary_switches", 40)):
        row = metric(found, name)
        assert [group.mean for group in row.groups] == [rate, rate]
        assert row.unit == {"cpu_run_ns": "ns/s", "voluntary_switches": "count/s"}[name]
        assert [one.verdict for one in row.differences] == ["equal"]
    assert not [one for one in found.metrics if one.metric in ("ops", "energy_j", "mean_cores")]


def test_totals_of_runs_of_different_length_have_no_verdict() -> None:
    def run(number: int, seconds: float) -> RunTables:
        cpu = round(seconds * 5e8)
        to_ns = 5_000_000_000 + round(seconds * 1e9)
        return tables(number, [Life("main", (0, 0, 0), (cpu, 0, None))], to_ns=to_ns)

    found = compare([[run(1, 10)], [run(2, 30)]], basis="totals")
    (cpu,) = metric(found, "cpu_run_ns").differences
    assert (cpu.absolute, cpu.verdict) == (10_000_000_000, "unclear")
    assert cpu.caveat == "The runs differ in length, and this grows with it: compare rates."
    # Within 5 % of the longest, lengths are the same.
    found = compare([[run(1, 9.5)], [run(2, 10)]], basis="totals")
    (cpu,) = metric(found, "cpu_run_ns").differences
    assert (found.same_length, cpu.verdict) == (True, "more")
    assert cpu.caveat == "One run in a group: it may be chance."


SAMPLED = ("cpu_run_ns", "user_cpu_us", "disk_write_bytes")


def sampled(number: int, cpu_ns: int, user_us: int, written: int = 0) -> RunTables:
    """A run of 10 s with fields that are not exact."""
    typical = tables(number)
    life = Life("main", (0, 0, 0), (cpu_ns, user_us, written))
    return RunTables(typical.manifest, threads([life], SAMPLED), typical.signals, typical.events)


def verdicts(found: Comparison, name: str) -> list[tuple[str, str | None]]:
    return [(one.verdict, one.caveat) for one in metric(found, name).differences]


def test_sampled_time_above_the_exact_time_has_no_verdict() -> None:
    # Ticks hit a program that runs in step with them: 3.0 s of user time in 1.5 s of CPU time.
    groups = [
        [sampled(1, 1_500_000_000, 1_000_000), sampled(2, 1_500_000_000, 1_010_000)],
        [sampled(3, 1_500_000_000, 3_000_000), sampled(4, 1_500_000_000, 3_010_000)],
    ]
    for basis in ("rates", "totals"):
        found = compare(groups, basis=basis)
        row = metric(found, "user_cpu_us")
        assert row.provenance == "sampled"
        assert row.differences[0].low is not None
        assert row.differences[0].low > 0
        ((verdict, caveat),) = verdicts(found, "user_cpu_us")
        assert verdict == "unclear"
        assert caveat is not None
        assert "above the exact on-CPU time" in caveat


def test_a_difference_below_the_resolution_has_no_verdict() -> None:
    # 100 ticks of 10 ms have a standard error of 10 ticks, so 10 % more is nothing.
    found = compare(
        [[sampled(1, 9_000_000_000, 1_000_000)], [sampled(2, 9_000_000_000, 1_100_000)]]
    )
    assert verdicts(found, "user_cpu_us") == [
        ("unclear", "The difference is below the resolution of the measurement (sampled).")
    ]
    found = compare(
        [[sampled(1, 9_000_000_000, 1_000_000)], [sampled(2, 9_000_000_000, 3_000_000)]]
    )
    assert verdicts(found, "user_cpu_us") == [("more", "One run in a group: it may be chance.")]
    # I/O bytes are rounded down to 1024 for each thread.
    found = compare([[sampled(1, 1, 0, 4096)], [sampled(2, 1, 0, 5120)]])
    assert metric(found, "disk_write_bytes").provenance == "quantised"
    assert [verdict for verdict, _ in verdicts(found, "disk_write_bytes")] == ["unclear"]


def test_a_clear_difference_of_repeats_has_a_verdict_without_caveat() -> None:
    def run(number: int, switches: int, **changes: Any) -> RunTables:
        return tables(number, [Life("main", (0, 0, 0), (switches, switches, None))], **changes)

    found = compare([[run(1, 100), run(2, 102)], [run(3, 200), run(4, 202)]], basis="totals")
    assert verdicts(found, "cpu_run_ns") == [("more", None)]
    assert verdicts(found, "voluntary_switches") == [("more", None)]
    found = compare([[run(1, 100), run(2, 200)], [run(3, 110), run(4, 190)]], basis="totals")
    assert verdicts(found, "cpu_run_ns") == [("equal", None)]
    found = compare([[run(1, 100), run(2, 200)], [run(3, 110), run(4, 199)]], basis="totals")
    assert verdicts(found, "cpu_run_ns") == [("unclear", None)]
    assert verdicts(found, "net_read_bytes") == [("unknown", None)]


def test_what_is_absent_is_null() -> None:
    found = compare(
        [[tables(1, LIVES)], [tables(2, [Life("main", (0, 0, 1), (0, 0, 3))])]], basis="totals"
    )
    assert values(found, "net_read_bytes") == [[None], [2]]
    assert values(found, "major_faults") == [[None], [None]]
    assert values(found, "ops") == values(found, "energy_j") == [[None], [None]]
    assert values(found, "peak_rss_bytes") == [[None], [None]]
    row = metric(found, "net_read_bytes")
    assert (row.groups[0].n, row.groups[0].mean, row.differences[0].absolute) == (0, None, None)
    # A role that a run does not have did not do 0.
    assert values(found, "cpu_run_ns", "worker-#") == [[6e9], [None]]
    assert values(found, "cpu_run_ns", "main") == [[1e9], [0]]


def test_lives_without_a_value_do_not_count() -> None:
    lives = [Life("main", (1, 0, None), (5, 0, 9)), Life("main", (2, 0, 4), (3, 0, 6))]
    found = compare([[tables(1, lives)], [tables(2)]], basis="totals")
    assert values(found, "net_read_bytes") == [[2], [None]]
    assert values(found, "cpu_run_ns") == [[5], [None]]


def test_groups_of_repeats() -> None:
    def run(number: int, cpu: int, **changes: Any) -> RunTables:
        return tables(number, [Life("main", (0, 0, 0), (cpu, 0, 0))], **changes)

    found = compare(
        [
            [run(1, 10, group="before"), run(2, 14, group="before")],
            [run(3, 20, name="alone")],
            [run(4, 20, name="alone"), run(5, 24)],
        ],
        basis="totals",
    )
    row = metric(found, "cpu_run_ns")
    assert [group.mean for group in row.groups] == [12, 20, 22]
    assert [one.absolute for one in row.differences] == [8, 10]
    assert [one.method for one in row.differences] == ["none", "welch"]
    assert [group.label for group in found.groups] == ["before", "alone", "alone and 1 more"]
    assert [group.runs for group in found.groups][2] == [run_id(4), run_id(5)]
    assert [one.group for one in found.runs] == [0, 0, 1, 2, 2]


def test_ops_and_energy() -> None:
    instants = [
        # The reading of the first frame was taken before the run began.
        Instant(5, machine=(4.5, 1_000_000, 0), rss=10),
        Instant(6, machine=(5.5, 3_000_000, 0), rss=30),
        Instant(6.5, machine=(5.5, 3_000_000, 0), rss=None),
        Instant(15, machine=(14.5, 21_000_000, 0), rss=20),
    ]
    events = [decided(6, 30), decided(8, 70, elapsed_s=1.5)]
    steered = tables(1, LIVES, instants, events, policies=[policy(5)])
    found = compare([[steered], [tables(2)]], basis="totals")
    assert values(found, "ops") == [[100], [None]]
    assert values(found, "ops_per_s") == [[40], [None]]
    # From second 5, half way between the first two readings, to the last one: 21 J - 2 J.
    assert values(found, "energy_j") == [[pytest.approx(19)], [None]]
    assert values(found, "ops_per_j") == [[pytest.approx(100 / 19)], [None]]
    assert values(found, "peak_rss_bytes") == [[30], [None]]


def test_given_results_come_first_and_are_those_of_whole_runs() -> None:
    def given(number: int, *results: RunResult) -> RunTables:
        run = tables(number, LIVES)
        return replace(run, manifest=run.manifest.model_copy(update={"results": list(results)}))

    before = given(
        1,
        RunResult(name="ops", value=1000, better="more"),
        RunResult(name="p99_ms", value=20, better="less"),
    )
    after = given(2, RunResult(name="p99_ms", value=5, better="less"))
    found = compare([[before], [after]])
    assert found.metrics[0].metric == "result:p99_ms"
    row = metric(found, "result:p99_ms")
    assert (row.label, row.better, row.role) == ("p99_ms", "less", None)
    assert values(found, "result:p99_ms") == [[20], [5]]
    seconds = before.duration_ns / 1e9
    assert values(found, "ops_per_s") == [[pytest.approx(1000 / seconds)], [None]]
    windows = [replace(run, window=Window(0, 1)) for run in (before, after)]
    of_windows = compare([[one] for one in windows])
    assert values(of_windows, "ops_per_s") == [[None], [None]]
    assert all(not one.metric.startswith("result:") for one in of_windows.metrics)


def test_energy_across_a_gap_is_unknown() -> None:
    instants = [Instant(5, machine=(5, 0, 0)), Instant(9, machine=(9, 10_000_000, 1))]
    found = compare([[tables(1, LIVES, instants)], [tables(2)]], basis="totals")
    assert values(found, "energy_j") == [[None], [None]]


def test_operations_of_two_signals_are_not_added() -> None:
    policies = [policy(5), policy(8, signal="network-bytes")]
    found = compare(
        [[tables(1, events=[decided(6, 30)], policies=policies)], [tables(2)]], basis="totals"
    )
    assert values(found, "ops") == [[None], [None]]


def test_alignment() -> None:
    began = event(
        7,
        SteeringStarted(
            type="steering_started",
            policy="linear",
            shadow=False,
            knob="go-agent",
            signal="agent-ops",
            proxy=False,
            lower=1,
            upper=8,
            size=8,
            actor="a program",
        ),
    )
    runs = [
        tables(1, events=[began], policies=[policy(7)], marks=[RunMark(time_ns=9, text="no")]),
        tables(2, policies=[policy(2)]),
        tables(3, marks=[RunMark(time_ns=8_000_000_000, text="load")]),
    ]
    groups = [[run] for run in runs]

    def reported(found: Comparison) -> list[tuple[float, str | None]]:
        return [(run.zero_ns / 1e9, run.align_problem) for run in found.runs]

    assert reported(compare(groups)) == [(5, None)] * 3
    assert reported(compare(groups, "policy")) == [
        (7, None),
        (5, "its policy started before the run and did not change in it"),
        (5, "no policy steered it"),
    ]
    assert reported(compare(groups, "mark", "load")) == [
        (5, "it has no mark 'load'"),
        (5, "it has no mark 'load'"),
        (8, None),
    ]


def test_curves_begin_at_the_runs_start_and_shift_with_alignment() -> None:
    instants = [
        Instant(5, {"main": (100, 1, None), "worker-#": (50, 0, None)}, gomaxprocs=4, rss=7),
        Instant(5.5, gomaxprocs=4, rss=8),
        Instant(6, {"main": (300, 2, None), "worker-#": (60, 0, None), "late": (5, 0, None)}),
        Instant(7, {"main": (400, 3, None), "worker-#": (90, 0, None), "late": (9, 0, None)}),
    ]
    mark = [RunMark(time_ns=6_000_000_000, text="here")]
    found = compare([[tables(1, LIVES, instants, marks=mark)], [tables(2)]], "mark", "here")
    whole = curve(found, 1, "cpu_run_ns")
    assert (whole.time_s, whole.value) == ([-1, 0, 1], [0, 215, 349])
    main = curve(found, 1, "cpu_run_ns", "main")
    assert (main.time_s, main.value) == ([-1, 0, 1], [0, 200, 300])
    size = curve(found, 1, "gomaxprocs")
    assert (size.time_s, size.value) == ([-1, -0.5, 0, 1], [4, 4, None, None])
    assert curve(found, 1, "rss_bytes").value == [7, 8, None, None]
    assert not [one for one in found.series if one.metric == "net_read_bytes"]
    assert not [one for one in found.series if one.run == run_id(2)]


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    instants = [Instant(5 + s, {"main": (s * 10, 0, 0)}, gomaxprocs=4) for s in range(3000)]
    found = compare([[tables(1, LIVES, instants)], [tables(2)]])
    reported = curve(found, 1, "cpu_run_ns")
    assert len(reported.time_s) == len(reported.value) == MAX_POINTS
    assert (reported.time_s[0], reported.value[0]) == (0, 0)
    assert (reported.time_s[-1], reported.value[-1]) == (2999, 29_990)
    # Steps keep their corners: one that never changes has two points.
    assert curve(found, 1, "gomaxprocs").time_s == [0, 2999]


def test_corrected_roles_are_compared() -> None:
    other = tables(2, [Life("wrk", (0, 0, 0), (8, 0, 0))], [Instant(5, {"wrk": (0, 0, 0)})])
    correction = Correction(run_id(2), "wrk", "worker-#")
    found = compare([[tables(1, LIVES)], [other]], corrections=[correction], basis="totals")
    assert values(found, "cpu_run_ns", "worker-#") == [[6e9], [8]]
    assert curve(found, 2, "cpu_run_ns", "worker-#").value == [0]


def test_setup_differences_by_importance() -> None:
    host = manifest().host
    runs = [
        manifest(1),
        manifest(
            2,
            policies=[policy(5, shadow=True)],
            tidscope="0.2.0",
            host=host.model_copy(update={"kernel": "6.19.0"}),
            losses=losses(gaps=2, missing_ns=5),
        ),
    ]
    assert [(one.what, one.values) for one in setup_differences(runs)] == [
        ("policy", ["none", "linear in shadow mode, 1 to 8 by go-agent on agent-ops"]),
        ("kernel", ["6.18.0", "6.19.0"]),
        ("tidscope", ["0.1.0", "0.2.0"]),
        ("losses", ["none", "0 frames in 2 gaps (0.0 s)"]),
    ]
    assert setup_differences([manifest(1), manifest(2)]) == []


@pytest.mark.parametrize(
    ("numbers", "why"), [([], "not 0"), ([1], "not 1"), ([1, 1], "twice"), (range(9), "not 9")]
)
def test_so_many_cannot_be_compared(numbers: list[int], why: str) -> None:
    with pytest.raises(ComparisonError, match=why):
        compare([[tables(number)] for number in numbers])


def test_a_mark_has_a_text() -> None:
    with pytest.raises(ComparisonError, match="mark=TEXT"):
        compare([[tables(1)], [tables(2)]], "mark")
