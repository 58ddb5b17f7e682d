"""Disturbances of simulated programs besides noise: a neighbour, batches, a warm-up, lag, gaps."""

from dataclasses import replace

import numpy as np
import pytest
from tidscope_backend.cli.scenario_files import FAMILIES, shipped
from tidscope_policies.contract import Decision, Observation
from tidscope_policies.registry import POLICIES, ReadyPolicy
from tidscope_policies.simulation.campaign import Job, Plant, against, run_job
from tidscope_policies.simulation.scenario import (
    Batches,
    Neighbour,
    Noise,
    Process,
    Scenario,
    WarmUp,
)
from tidscope_policies.simulation.simulated_pools import STEP_S, levels
from tidscope_policies.simulation.trial import Simulation

STEADY = replace(
    next(plant for plant in shipped() if plant.name == "S1").draw(0),
    noise=Noise(0, 0),
    seconds=120,
)


class Watching:
    """Keeps its size, and what it saw."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def observe(self, seen: Observation) -> Decision:
        self.seen.append(seen)
        return Decision(seen.size, "watching", "")

    def restart(self, reason: str) -> None:
        """Nothing to forget."""


def watched(process: Process, base: Scenario = STEADY) -> list[Observation]:
    policy = Watching()
    scenario = replace(base, processes=[process])
    Simulation(scenario, lambda: ReadyPolicy(policy, 2.0), 0).run()
    return policy.seen


def level(process: Process, seconds: float = 120) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return levels(process, round(seconds / STEP_S), np.random.default_rng(0))


def test_batches() -> None:
    found = level(Process(batches=Batches(on_s=20, off_s=10, percent=5)))
    assert found[: round(20 / STEP_S)] == pytest.approx(1)
    assert found[round(20 / STEP_S) : round(30 / STEP_S)] == pytest.approx(0.05)
    assert found[round(30 / STEP_S)] == 1


def test_a_warm_up() -> None:
    found = level(Process(warm_up=WarmUp(seconds=60, from_percent=40)))
    at = {second: found[round(second / STEP_S)] for second in (0, 30, 60, 100)}
    assert at == pytest.approx({0: 0.4, 30: 0.7, 60: 1, 100: 1})


def test_a_neighbour_takes_its_share_for_the_given_times() -> None:
    found = level(Process(neighbour=Neighbour(percent=40, on_s=9, off_s=19, shortest_s=1)), 40_000)
    assert set(found.tolist()) == {1.0, 0.6}
    assert np.mean(found == 0.6) == pytest.approx(10 / 30, abs=0.03)


def test_operations_that_are_counted_late() -> None:
    at_once, late = watched(Process()), watched(Process(lag_s=4))
    assert [seen.ops for seen in late[:2]] == [0, 0]
    assert [seen.ops for seen in late[2:]] == pytest.approx([seen.ops for seen in at_once[:-2]])


def test_missing_intervals() -> None:
    found = watched(Process(), replace(STEADY, missing_percent=25.0, seconds=4000))
    assert np.mean([seen.paused for seen in found]) == pytest.approx(0.25, abs=0.04)
    assert not any(seen.paused for seen in watched(Process()))


def test_the_program_has_its_own_size_at_first() -> None:
    assert {seen.original for seen in watched(Process(), replace(STEADY, start=7))} == {7}


def test_what_a_policy_costs_against_leaving_alone() -> None:
    """Half the threads of a pool that waits do half the work."""
    waits = replace(STEADY, processes=[Process(sigma=0, kappa=0)], cores=1024, change_cost_s=0)
    alone = Simulation(waits, lambda: POLICIES["fixed"].make({"size": 16}), 0).run()
    half = Simulation(waits, lambda: POLICIES["fixed"].make({"size": 8}), 0).run()
    harm = against(half, alone)
    assert harm.later_percent == pytest.approx(50)
    # The first decision comes after 2 s, and takes 0.3 s.
    assert harm.first_percent == pytest.approx(100 * 0.5 * (60 - 2.3) / 60)
    assert harm.whole_percent == pytest.approx(100 * 0.5 * (120 - 2.3) / 120)
    assert against(alone, alone).first_percent == 0


def test_where_the_program_depends_on_its_sizes_nothing_is_compared() -> None:
    unseen = next(plant for plant in shipped() if plant.name == "unseen").draw(0)
    assert run_job(Job("fixed", replace(unseen, seconds=60), 0)).harm is None
    assert run_job(Job("fixed", STEADY, 0)).harm is not None


@pytest.mark.parametrize("plant", shipped(FAMILIES), ids=lambda plant: plant.name)
def test_the_default_policy_gains_or_loses_little(plant: Plant) -> None:
    """Or loses little: levels that jump mislead it, and halving the threads may cost a percent."""
    harm = run_job(Job("cooperative", plant.draw(7000), 7000)).harm
    assert harm is not None
    assert harm.whole_percent <= 5.0
