"""Judges and estimates of benchmarks and kernel tests, given synthetic accounts and noise."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from estimates import trend
from fault_judge import Hole, Reading, Reported, judge
from programs.netmoves import CASES, Account, Outcome, Report, differences

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


SAMPLES = 300


def correlated(random: np.random.Generator, r: float) -> npt.NDArray[np.float64]:
    """A first-order autoregression of variance 1."""
    noise: npt.NDArray[np.float64] = random.normal(size=SAMPLES) * np.sqrt(1 - r * r)
    noise[0] = random.normal()
    for n in range(1, SAMPLES):
        noise[n] += r * noise[n - 1]
    return noise


def test_a_line_has_its_slope_and_no_width() -> None:
    """The interval is the slope without noise."""
    hours = np.linspace(1, 2, SAMPLES)
    found = trend(hours.tolist(), (3 + 7 * hours).tolist())
    assert found == pytest.approx((7, 7, 7))
    assert not found.flat(1)
    assert found.flat(7.1)


def test_what_stands_still_is_flat() -> None:
    """A constant has no slope, and no interval."""
    found = trend(list(range(SAMPLES)), [5.0] * SAMPLES)
    assert found == (0, 0, 0)
    assert found.flat(0.1)


@pytest.mark.parametrize(("r", "least"), [(0, 940), (0.5, 930), (0.9, 900)])
def test_the_interval_holds_the_slope_as_often_as_it_says(r: float, least: int) -> None:
    """95 % of 1,000 noisy series contain it, and fewer with strong autocorrelation."""
    random = np.random.default_rng(1)
    hours = np.linspace(0, 1, SAMPLES)
    held = 0
    for _ in range(1000):
        found = trend(hours.tolist(), (2 * hours + correlated(random, r)).tolist())
        held += found.low <= 2 <= found.high
    assert held >= least


def test_growth_is_found_in_noise() -> None:
    """3 MB an hour in noise of 1 MB whose neighbours are alike."""
    random = np.random.default_rng(2)
    hours = np.linspace(0, 1, SAMPLES)
    found = trend(hours.tolist(), (3 * hours + correlated(random, 0.8)).tolist())
    assert found.low > 0
    assert not found.flat(1)


def test_too_few_samples_are_refused() -> None:
    """Two a block, or the means are of nothing."""
    with pytest.raises(ValueError, match="23 samples are too few"):
        trend(list(range(23)), list(range(23)))


MOVER = Account(
    tid=7,
    name="mover",
    calls_exact=True,
    read_bytes=10,
    write_bytes=20,
    read_calls=1,
    write_calls=2,
)
WORKER = MOVER.model_copy(update={"tid": 0, "name": "iou-wrk-"})
NUMBERS = (10, 20, 1, 2)


def outcome(*accounts: Account) -> Outcome:
    return Outcome(
        report=Report(event="done", unsupported=None, threads=accounts),
        network="ebpf: ",
        listed=frozenset({7}),
        live={7: NUMBERS},
        exited=[(7, "mover", NUMBERS)],
        totals=tuple(len(accounts) * number for number in NUMBERS),
    )


GOOD = outcome(MOVER)
WITH_WORKERS = replace(
    outcome(MOVER, WORKER),
    exited=[(7, "mover", NUMBERS), (8, "iou-wrk-7", (4, 20, 1, 1)), (9, "iou-wrk-7", (6, 0, 0, 1))],
)


def test_right_numbers_agree() -> None:
    assert differences("tcp4_read_write", GOOD) == []
    assert differences("io_uring_worker", WITH_WORKERS) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(GOOD, live={7: (9, 20, 1, 2)}), "live thread 7"),
        (replace(GOOD, live={7: (10, 20, 1, 3)}), "live thread 7"),
        (replace(GOOD, live={}), "not shown"),
        (replace(GOOD, exited=[(7, "mover", (10, 21, 1, 2))]), "exited thread 7"),
        (replace(GOOD, exited=[]), "0 times instead of 1"),
        (replace(GOOD, exited=[(7, "mover", NUMBERS)] * 2), "2 times instead of 1"),
        (replace(GOOD, exited=[*GOOD.exited, (8, "other", (1, 0, 1, 0))]), "not reported"),
        (replace(GOOD, inexact=1), "without an exit record"),
        (replace(GOOD, totals=(10, 21, 1, 2)), "all threads"),
        (replace(WITH_WORKERS, exited=WITH_WORKERS.exited[:2]), "threads iou-wrk-"),
    ],
)
def test_a_wrong_number_is_noticed(wrong: Outcome, words: str) -> None:
    assert words in " ".join(differences("tcp4_read_write", wrong))


def test_calls_may_be_split_but_not_missing() -> None:
    sendfile = outcome(MOVER.model_copy(update={"calls_exact": False}))
    more = (10, 20, 1, 9)
    split = replace(sendfile, live={7: more}, exited=[(7, "mover", more)])
    assert differences("tcp4_sendfile", split) == []
    none = (10, 20, 1, 0)
    assert differences("tcp4_sendfile", replace(split, live={7: none}))


def test_what_a_source_says_that_it_does_not_count_is_to_be_zero() -> None:
    spliced = replace(GOOD, network="ebpf: …; not counted here: splice() out of TCP sockets (…)")
    assert differences("tcp4_splice_in", spliced) != []
    assert differences("tcp4_read_write", spliced) == []


def test_every_case_says_what_it_is() -> None:
    assert all(CASES.values())
