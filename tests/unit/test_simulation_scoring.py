"""Scores of runs made by hand, and of a run that always comes out the same."""

from dataclasses import replace

import pytest
from tidscope_backend.cli.policy_bench import run_campaign, shipped
from tidscope_policies.registry import POLICIES
from tidscope_policies.simulation.campaign import Job, differing, one_dip_s, run_job, score
from tidscope_policies.simulation.scenario import Process, Scenario
from tidscope_policies.simulation.trial import Move, Simulation, Trial

SHIPPED = {plant.name: plant.draw(0) for plant in shipped()}


def scenario(seconds: float, programs: int = 1, scored_from_s: float = 0.0) -> Scenario:
    processes = [Process()] * programs
    return Scenario(
        name="x", title="", processes=processes, seconds=seconds, scored_from_s=scored_from_s
    )


def run(name: str, on: str, seed: int, one_dip: float | None = None, seconds: int = 240) -> Trial:
    short = replace(SHIPPED[on], seconds=seconds)
    return Simulation(short, POLICIES[name].make, seed, one_dip).run()


def test_regret_of_one_program_is_the_share_of_operations_lost() -> None:
    trial = Trial(
        done=[(50.0,), (100.0,), (300.0,), (300.0,)],
        best=[(100.0,), (100.0,), (400.0,), (400.0,)],
        switches=3,
        phase_starts_s=[0.0],
    )
    found = score(scenario(1.0), trial)
    assert found.regret_percent == pytest.approx(25.0)
    assert found.switches_per_min == pytest.approx(180.0)
    # The first second does not count.
    later = score(scenario(1.25, scored_from_s=0.25), trial)
    assert later.regret_percent == pytest.approx(100 * (1 - 700 / 900))


def test_regret_of_several_programs_is_that_of_the_geometric_mean() -> None:
    trial = Trial(
        done=[(90.0, None), (40.0, 40.0), (80.0, 5.0)],
        best=[(100.0, 7.0), (80.0, 20.0), (80.0, 20.0)],
        phase_starts_s=[0.0, 0.25],
    )
    found = score(scenario(0.75, programs=2), trial)
    # 90 of 100; sqrt(40 * 40) of sqrt(80 * 20); sqrt(80 * 5) of it.
    assert found.regret_percent == pytest.approx(100 * (0.1 + 0.0 + 0.5) / 3)


def test_a_program_that_does_nothing_loses_everything() -> None:
    trial = Trial(done=[(0.0, 10.0)], best=[(5.0, 10.0)], phase_starts_s=[0.0])
    assert score(scenario(0.25, programs=2), trial).regret_percent == 100.0


def test_time_to_97_percent_must_be_sustained() -> None:
    slow, good = (90.0,), (97.0,)
    # 10 s bad, 19 s good, 1 s bad, then good: reached at 30 s. In the second phase never.
    done = [slow] * 40 + [good] * 76 + [slow] * 4 + [good] * 80 + [slow] * 200
    trial = Trial(done=list(done), best=[(100.0,)] * 400, phase_starts_s=[0.0, 50.0])
    assert score(scenario(100.0), trial).seconds_to_good == pytest.approx((30.0 + 50.0) / 2)


def test_differing_decisions() -> None:
    one = Trial(decisions=[Move(2, 0, 8), Move(2, 1, 5), Move(4, 0, 9)])
    other = Trial(decisions=[Move(2, 0, 8), Move(2, 1, 6), Move(4, 0, 8)])
    assert differing(one, other) == 2
    assert differing(one, one) == 0


def test_a_fixed_size_has_the_regret_that_the_law_gives() -> None:
    trial = run("fixed", "S1", seed=3)
    # X(16) = 3855.42 against X(10) = 4255.32.
    found = score(replace(SHIPPED["S1"], seconds=240), trial)
    assert found.regret_percent == pytest.approx(100 * (1 - 3855.421687 / 4255.319149))
    assert trial.switches == 0
    assert len(trial.decisions) == 120


def test_a_change_acts_late_and_costs_work() -> None:
    trial = run("linear", "S1", seed=0, seconds=30)
    clean = [done for (done,) in trial.done]
    # The first step down, from 16 to 15, is decided at 12 s and acts at 12.3 s.
    before, after = 3855.421687, 15000 / (1 + 0.7 + 2.1)
    assert clean[48] == pytest.approx(before)
    blend = (0.05 * before + 0.2 * after) / 0.25
    assert clean[49] == pytest.approx(blend * (1 - 0.02 / 0.25))
    assert clean[50] == pytest.approx(after)


def test_the_same_seed_gives_the_same_run() -> None:
    for name in POLICIES:
        one, same, other = (run(name, "S4", seed, seconds=120) for seed in (1, 1, 2))
        assert one.decisions == same.decisions, name
        assert one.done == same.done, name
        assert one.done != other.done or name == "fixed", name


def test_programs_come_and_go() -> None:
    trial = run("fixed", "S5", seed=0, seconds=1200)
    assert trial.phase_starts_s == [0.0, 200.0, 900.0]
    assert trial.done[0][1] is None
    assert trial.done[800][1] is not None
    assert trial.done[3600][1] is None
    moves = [move for move in trial.decisions if move.process == 1]
    assert (moves[0].at_s, moves[-1].at_s) == (202.0, 900.0)


def test_one_program_searches_at_a_time() -> None:
    """Both are reported to search when the second one joins."""
    trial = run("linear", "S5", seed=0, seconds=300)
    moved: dict[int, list[float]] = {0: [], 1: []}
    sizes = {0: 16, 1: 16}
    for move in trial.decisions:
        if move.at_s > 200 and move.size != sizes[move.process]:
            moved[move.process].append(move.at_s)
        sizes[move.process] = move.size
    assert len(moved[0]) >= 12
    assert len(moved[1]) >= 12
    assert max(moved[0]) <= min(moved[1])


def test_a_job_compares_with_and_without_dips() -> None:
    short = replace(SHIPPED["S6"], seconds=120)
    outcome = run_job(Job("bidirectional", short, 0))
    assert outcome.dip_changed is not None
    assert outcome.dip_changed > 0
    assert outcome.one_dip_changed is None
    calm = run_job(Job("bidirectional", replace(SHIPPED["S1"], seconds=120), 0))
    assert calm.dip_changed is None
    assert calm.one_dip_changed is not None
    assert run_job(Job("fixed", short, 0)).dip_changed == 0


def test_the_single_dip_lies_inside_the_run() -> None:
    times = [one_dip_s(Job("fixed", SHIPPED["S1"], seed)) for seed in range(100)]
    assert min(times) >= 120
    assert max(times) <= 1080
    assert len({round(time) for time in times}) > 90


def test_rows_are_means_over_seeds_and_do_not_depend_on_the_number_of_processes() -> None:
    short = [replace(SHIPPED[name], seconds=60) for name in ("S1", "S6")]
    rows = list(run_campaign(["fixed", "linear"], short, range(2), workers=2))
    assert rows == list(run_campaign(["fixed", "linear"], short, range(2), workers=1))
    assert [row.policy for row in rows] == ["fixed", "linear"]
    assert rows[0].regret_percent == {"S1": pytest.approx(9.3975, abs=1e-3), "S6": 0.0}
    assert rows[0].mean_regret_percent == pytest.approx(9.3975 / 2, abs=1e-3)
    jobs = [run_job(Job("linear", short[0], seed)) for seed in (0, 1)]
    mean = sum(outcome.score.regret_percent for outcome in jobs) / 2
    assert rows[1].regret_percent["S1"] == pytest.approx(mean)
