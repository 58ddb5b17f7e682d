"""Runs beside made accounts: what is lost, what counts twice, and whether the run says so."""

from typing import Any

import pytest
from fault_judge import Hole, Reading, Reported, judge

STEP_S = 0.05


def account(seconds: float = 10.0, halted_s: float = 8.0) -> list[Reading]:
    """A hundred threads a second and a fifth of a CPU, until the program halts."""
    readings = []
    for step in range(round(seconds / STEP_S) + 1):
        worked_s = min(step * STEP_S, halted_s)
        threads = round(100 * worked_s)
        readings.append(Reading(1000 + step * STEP_S, threads, threads, worked_s / 5))
    return readings


def run(**changes: Any) -> Reported:
    """A run from before the work to after it, which has all of it."""
    whole: dict[str, Any] = {
        "state": "complete",
        "from_s": 999.0,
        "to_s": 1010.0,
        "until_s": 1010.05,
        "born": 800,
        "ended": 800,
        "events": 800,
        "cpu_s": 1.6,
        "losses": {"frames": 0, "gaps": 0, "exit_records_lost": 0},
        "holes": [],
        "seqs": [(1, 1), (2, 2), (3, 4)],
        "period_s": 0.1,
    }
    return Reported(**whole | changes)


def test_a_whole_run() -> None:
    verdict = judge(account(), run())
    assert verdict.said
    assert (verdict.lost_threads, verdict.lost_cpu_s, verdict.lost_s) == (0, 0, 0)
    assert (verdict.twice_threads, verdict.twice_cpu_s) == (0, 0)


def test_one_thread_that_is_missing_is_silent_until_the_run_says_so() -> None:
    verdict = judge(account(), run(born=799))
    assert verdict.silent == ("1 threads within the run are missing",)
    assert verdict.lost_threads == 1
    assert judge(account(), run(born=799, losses={"exit_records_lost": 1})).said
    assert judge(account(), run(born=799, losses={"frames": 1, "gaps": 1})).said


def test_fewer_lost_exit_records_than_missing_threads_are_not_enough() -> None:
    assert not judge(account(), run(born=790, losses={"exit_records_lost": 9})).said


def test_an_exit_that_is_missing() -> None:
    assert not judge(account(), run(ended=799, events=799)).said


def test_an_exit_without_an_event() -> None:
    assert judge(account(), run(events=700)).silent == ("100 exits have no event",)
    assert judge(account(), run(events=700, losses={"exits_without_event": 100})).said


def test_cpu_time_that_is_missing_or_too_much() -> None:
    missing = judge(account(), run(cpu_s=1.5))
    assert not missing.said
    assert missing.lost_cpu_s == pytest.approx(0.1 - 0.03 - 0.016)
    double = judge(account(), run(cpu_s=1.7))
    assert not double.said
    assert double.twice_cpu_s == pytest.approx(0.1 - 0.03 - 0.016 - 0.008)
    assert judge(account(), run(cpu_s=1.61)).said


def test_threads_and_frames_that_are_there_twice() -> None:
    assert judge(account(), run(born=801)).twice_threads == 1
    assert not judge(account(), run(born=801)).said
    assert not judge(account(), run(ended=801, events=801)).said
    assert judge(account(), run(seqs=[(1, 1), (2, 3), (3, 3)])).silent == (
        "1 frames are there twice",
    )


@pytest.mark.parametrize("state", ["interrupted", "incomplete"])
def test_what_comes_after_the_last_frame(state: str) -> None:
    """Half of the work; the run has what was before its end."""
    half = run(to_s=1004.0, born=400, ended=400, events=400, cpu_s=0.8)
    silent = judge(account(), half)
    assert not silent.said
    assert silent.lost_threads == pytest.approx(375, abs=1)
    assert silent.lost_s == pytest.approx(6.05)
    said = judge(account(), half._replace(state=state))
    assert said.said
    assert said[:3] == silent[:3]


def test_an_interrupted_run_still_has_to_have_what_was_before_its_end() -> None:
    short = run(state="interrupted", to_s=1004.0, born=300, ended=300, events=300, cpu_s=0.8)
    assert judge(account(), short).silent == ("75 threads within the run are missing",)
    assert judge(account(), short._replace(unsure_s=1)).said
    assert not judge(account(), short._replace(unsure_s=0.5)).said


def test_the_last_seconds_of_an_idle_program() -> None:
    assert judge(account(), run(until_s=1013)).silent == (
        "the last 3.0 s of a run that is complete",
    )
    assert judge(account(), run(until_s=1013, state="incomplete")).said


def test_holes() -> None:
    assert judge(account(), run(holes=[Hole(5.0, 4.9)])).said
    verdict = judge(account(), run(holes=[Hole(5.0, 1.0)]))
    assert verdict.silent == ("5.0 s without a sample, of which 1.0 said",)
    assert verdict.lost_s == 5.0


def test_threads_under_way_when_the_program_was_killed_may_count_or_not() -> None:
    for born in (798, 802):
        assert not judge(account(), run(born=born, ended=800), slack=1).said
        assert judge(account(), run(born=born, ended=800), slack=2).said


def test_what_is_born_during_a_long_sample_may_be_in_it_or_not() -> None:
    half = run(state="interrupted", to_s=1004.0, cpu_s=0.8)
    for threads in (290, 510):
        other = half._replace(born=threads, ended=threads, events=threads)
        assert not judge(account(), other).said
        assert judge(account(), other._replace(sample_s=1)).said
