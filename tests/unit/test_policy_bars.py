"""The bars of docs/controllers.md, on few seeds: regret, changes of size, and where it rests."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, mode

import numpy as np
import pytest
from tidscope_backend.cli.policy_bench import shipped
from tidscope_policies.registry import POLICIES
from tidscope_policies.simulation.campaign import Score, score
from tidscope_policies.simulation.scenario import Noise, Phase, Process, Scenario
from tidscope_policies.simulation.simulated_pools import SimulatedPools
from tidscope_policies.simulation.trial import Simulation, Trial

SEEDS = range(5000, 5002)
"""Neither those that the policies were tuned on nor those of the results."""
CALM = Noise(white_percent=0.0, slow_percent=0.0)


def run(scenario: Scenario, seed: int) -> Trial:
    return Simulation(scenario, POLICIES["cooperative"].make, seed).run()


@pytest.fixture(scope="module")
def scores() -> dict[str, list[Score]]:
    drawn = {plant.name: [(plant.draw(seed), seed) for seed in SEEDS] for plant in shipped()}
    return {
        name: [score(scenario, run(scenario, seed)) for scenario, seed in found]
        for name, found in drawn.items()
    }


def test_regret(scores: dict[str, list[Score]]) -> None:
    regrets = {name: fmean(each.regret_percent for each in found) for name, found in scores.items()}
    assert fmean(regrets.values()) <= 2.0
    assert max(regrets.values()) <= 6.0


def test_changes_of_size(scores: dict[str, list[Score]]) -> None:
    for name, found in scores.items():
        assert fmean(each.switches_per_min for each in found) <= 3.0, name


def calm_pools() -> Iterator[Scenario]:
    stream = np.random.default_rng(7)
    for at in range(24):
        low, high = ((4, 16), (1, 16), (1, 32), (2, 12))[at % 4]
        best = float(np.exp(stream.uniform(np.log(0.8 * low), np.log(1.2 * high))))
        process = Process(
            sigma=float(stream.uniform(0.0, 0.3)),
            phases=[Phase(seconds=300, best=best)],
            ceiling_ops=float(stream.uniform(1000, 6000)) if at % 3 == 0 else None,
        )
        yield Scenario(
            "calm", "", [process], seconds=300, low=low, high=high, cores=high, noise=CALM
        )


def test_without_noise_it_rests_at_a_good_size_of_every_pool() -> None:
    for at, scenario in enumerate(calm_pools()):
        usual = mode(each.size for each in run(scenario, at).decisions[-75:])
        pools = SimulatedPools(scenario, [scenario.processes[0].phases])
        share = pools.throughput((usual,), (0,))[0] / pools.best((0,))[0]
        assert share >= 0.97, (at, usual, share)


def test_the_regret_of_a_policy_that_never_moves_is_above_the_bars() -> None:
    """So the bars can be missed."""
    plants = {plant.name: plant for plant in shipped()}
    scenario = replace(plants["one"].draw(SEEDS[0]), seconds=120.0)
    fixed = Simulation(scenario, POLICIES["fixed"].make, SEEDS[0]).run()
    assert score(scenario, fixed).regret_percent > 6.0
