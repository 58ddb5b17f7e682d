"""The simulated pool, against values worked out by hand."""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from tidscope_backend.cli.scenario_files import shipped
from tidscope_policies.contract import Decision, Observation
from tidscope_policies.registry import POLICIES, ReadyPolicy
from tidscope_policies.simulation.scenario import (
    Dips,
    Noise,
    Peak,
    Phase,
    Process,
    RandomPhases,
    Retries,
    Scenario,
    Swing,
)
from tidscope_policies.simulation.simulated_pools import (
    SimulatedPools,
    capacity,
    dip_factors,
    draw_dips,
    draw_disturbances,
    draw_phases,
    goodput,
    noise,
    usl,
)
from tidscope_policies.simulation.trial import Simulation

PHASE = Phase(seconds=1200)
CALM = Noise(0, 0)
SHIPPED = {plant.name: plant.draw(0) for plant in shipped()}


def test_universal_scalability_law() -> None:
    assert usl(1, 1000, 0.05, 0.01) == 1000
    # 10000 / (1 + 0.05 * 9 + 0.01 * 90) = 10000 / 2.35
    assert usl(10, 1000, 0.05, 0.01) == pytest.approx(4255.319149)
    # 16000 / (1 + 0.05 * 15 + 0.01 * 240) = 16000 / 4.15
    assert usl(16, 1000, 0.05, 0.01) == pytest.approx(3855.421687)
    best = max(range(4, 17), key=lambda size: usl(size, 1000, 0.05, 0.01))
    assert best == round(math.sqrt(0.95 / 0.01)) == 10


def test_a_phase_sets_the_best_size_and_the_level() -> None:
    process = Process(sigma=0.03)
    for best in range(4, 17):
        phase = Phase(seconds=1, best=best, scale=0.6)
        found = max(range(1, 40), key=lambda size: capacity(process, phase, size))
        assert found == best
    assert capacity(process, Phase(seconds=1, scale=0.6), 1) == pytest.approx(600)


def test_a_knee() -> None:
    process = Process(sigma=0.03, kappa=0.003, knee=14, knee_loss=0.032)
    # 16000 / (1 + 0.45 + 0.72) = 7373.27, less 6.4 %
    assert capacity(process, PHASE, 16) == pytest.approx(7373.27189 * 0.936)
    assert capacity(process, PHASE, 14) == pytest.approx(usl(14, 1000, 0.03, 0.003))


def test_two_programs_share_the_cores() -> None:
    pools = SimulatedPools(SHIPPED["S5"], [[PHASE], [PHASE]])
    alone, none = pools.capacities((16, 16), (0, -1))
    assert alone == pytest.approx(usl(16, 1000, 0.03, 0.002))
    assert none == 0.0
    # 32 threads on 16 cores: each counts half, and crowding costs 1 / 1.12.
    both = pools.capacities((16, 16), (0, 0))
    assert both[0] == pytest.approx(usl(8, 1000, 0.03, 0.002) / 1.12)
    assert both[1] == pytest.approx(usl(8, 1000, 0.08, 0.012) / 1.12)
    assert pools.best((0, -1)) == (alone, 0.0)
    assert pools.best((0, 0)) == pools.capacities((10, 6), (0, 0))


def test_three_programs_have_a_best_too() -> None:
    processes = [Process(kappa=0.01), Process(kappa=0.01), Process(kappa=0.01)]
    scenario = Scenario(name="three", title="", processes=processes, low=1)
    pools = SimulatedPools(scenario, [[PHASE]] * 3)
    sums = {
        sizes: sum(map(math.log, pools.throughput(sizes, (0, 0, 0))))
        for sizes in [(a, b, c) for a in range(1, 17) for b in range(1, 17) for c in range(1, 17)]
    }
    found = sum(map(math.log, pools.best((0, 0, 0))))
    assert found == pytest.approx(max(sums.values()), abs=1e-9)


def test_demand_limits_what_is_done() -> None:
    pools = SimulatedPools(SHIPPED["S6"], [[PHASE]])
    for size in SHIPPED["S6"].bounds.sizes:
        assert pools.throughput((size,), (0,)) == (3000,)
        assert pools.capacities((size,), (0,))[0] > 3000
    assert pools.limited(0, 0, pools.best((0,))[0]) == 3000


def test_noise_has_the_size_it_is_said_to_have() -> None:
    stream = np.random.default_rng(1)
    factors = noise(stream, Noise(white_percent=4, slow_percent=3, slow_tau_s=10), 400_000)
    assert factors.mean() == pytest.approx(1, abs=0.003)
    intervals = factors.reshape(-1, 8).mean(axis=1)
    # White noise of 4 % an interval and slow noise of nearly 3 %: 5 % together.
    assert intervals.std() == pytest.approx(0.0495, abs=0.001)
    # 10 s apart only the slow part is alike, and its likeness has fallen to 1/e.
    far = np.corrcoef(intervals[:-5], intervals[5:])[0, 1]
    assert far == pytest.approx(9 / (16 + 9) * math.exp(-1), abs=0.02)


def test_dips_have_their_length_gap_and_depth() -> None:
    dips = draw_dips(np.random.default_rng(2), Dips(), 100_000)
    lengths = [end - begin for begin, end, _ in dips]
    gaps = [later[0] - earlier[1] for earlier, later in pairwise(dips)]
    assert min(lengths) >= 1
    assert max(lengths) <= 4
    assert min(gaps) >= 10
    assert sum(gaps) / len(gaps) == pytest.approx(30, abs=1.5)
    assert {factor for _, _, factor in dips} == {0.05}


def test_a_step_partly_in_a_dip_loses_that_part() -> None:
    factors = dip_factors([(0.6, 1.1, 0.05)], 6)
    assert factors.tolist() == pytest.approx([1, 1, 1 - 0.95 * 0.6, 0.05, 1 - 0.95 * 0.4, 1])


def test_random_phases_last_and_vary() -> None:
    kind = RandomPhases(shortest_s=90, further_s=120, best_low=4, best_high=16)
    phases = draw_phases(np.random.default_rng(3), Process(random_phases=kind), 200_000)
    lengths = [phase.seconds for _, phase in phases]
    assert min(lengths) >= 90
    assert sum(lengths) / len(lengths) == pytest.approx(210, abs=10)
    assert {phase.best for _, phase in phases} == set(range(4, 17))


def test_the_same_seed_gives_the_same_disturbances_and_dips_leave_the_rest_alone() -> None:
    scenario = SHIPPED["S4"]
    one, same, other = (draw_disturbances(scenario, 0, seed) for seed in (5, 5, 6))
    assert one == same
    assert one != other
    calm = draw_disturbances(replace(scenario, dips=None), 0, 5)
    assert replace(calm, dips=one.dips) == one
    assert set(np.round(one.dips, 6)) > {0.05, 1.0}
    assert ((np.array(one.dips) > 0.99999).mean()) > 0.85


def test_one_dip() -> None:
    scenario = SHIPPED["S1"]
    calm, dipped = (
        draw_disturbances(scenario, 0, 5),
        draw_disturbances(scenario, 0, 5, one_dip_s=100.0),
    )
    assert replace(calm, dips=dipped.dips) == dipped
    touched = np.flatnonzero(np.array(dipped.dips) < 0.99999)
    assert touched[0] == 400
    assert 4 <= len(touched) <= 17
    assert np.diff(touched).max() == 1


def test_a_second_peak() -> None:
    process = Process(sigma=0.03, kappa=0.005, peak=Peak(at=4, percent=120, width=0.3))
    without = replace(process, peak=None)
    assert capacity(process, PHASE, 4) == pytest.approx(2.2 * capacity(without, PHASE, 4))
    assert capacity(process, PHASE, 16) == pytest.approx(capacity(without, PHASE, 16))
    found = [capacity(process, PHASE, size) for size in range(1, 17)]
    peaks = [at + 1 for at in range(1, 15) if found[at - 1] < found[at] > found[at + 1]]
    assert peaks == [4, 14]


def test_a_swing_moves_the_level_and_the_best_alike() -> None:
    swinging = replace(SHIPPED["S1"], noise=CALM, seconds=100)
    swinging = replace(
        swinging, processes=[replace(swinging.processes[0], swing=Swing(30, 40, 0.25))]
    )
    trial = Simulation(swinging, POLICIES["fixed"].make, 0).run()
    level = usl(16, 1000, 0.05, 0.01)
    assert trial.done[0][0] == pytest.approx(1.3 * level)
    assert trial.done[80][0] == pytest.approx(0.7 * level)
    shares = [(done[0] or 0) / best[0] for done, best in zip(trial.done, trial.best, strict=True)]
    assert shares == pytest.approx([shares[0]] * len(shares))


def test_an_unseen_change_is_none_at_the_size_in_effect() -> None:
    phases = [Phase(100, best=6.0), Phase(100, best=14.0, unseen=True), Phase(100, best=6.0)]
    moving = replace(SHIPPED["S1"], noise=CALM, seconds=300, processes=[Process(phases=phases)])
    trial = Simulation(moving, partial(POLICIES["fixed"].make, {"size": 6}), 0).run()
    done, best = ([each[0] or 0.0 for each in found] for found in (trial.done, trial.best))
    assert done[500] == pytest.approx(done[300])
    assert best[300] == pytest.approx(done[300])
    assert best[500] > 1.2 * done[500]
    assert done[1000] < done[500]


def test_a_phase_has_a_demand_of_its_own() -> None:
    phases = [Phase(50), Phase(50, ceiling_ops=2000.0), Phase(50)]
    stepping = replace(SHIPPED["S1"], noise=CALM, seconds=150, processes=[Process(phases=phases)])
    trial = Simulation(stepping, POLICIES["fixed"].make, 0).run()
    assert trial.done[300] == trial.best[300] == (2000.0,)
    assert trial.best[100] > (2000.0,)
    assert trial.best[100] == trial.best[500]


def watched(scenario: Scenario, one_dip_s: float | None = None) -> list[float]:
    """Operations of each part of a run whose size does not change."""
    seen: list[float] = []

    class Watching:
        def observe(self, observed: Observation) -> Decision:
            seen.extend(part.ops for part in observed.parts)
            return Decision(observed.size, "watching", "It only watches.")

        def restart(self, reason: str) -> None:
            """Nothing to begin again."""

    Simulation(scenario, lambda: ReadyPolicy(Watching(), 2.0), 3, one_dip_s).run()
    return seen


def test_operations_that_are_whole() -> None:
    process = Process(ops_per_thread=2.0, sigma=0.0, kappa=0.0, work_sd=0.8)
    rare = replace(SHIPPED["S1"], noise=CALM, seconds=1200, processes=[process])
    seen = watched(rare)
    assert all(ops == int(ops) for ops in seen)
    assert sum(seen) / 1200 == pytest.approx(32, rel=0.05)
    # The number of ended independent jobs varies by their standard deviation over their mean.
    spread = np.var(seen) / np.mean(seen)
    assert spread == pytest.approx(math.exp(0.8**2) - 1, rel=0.25)


@pytest.mark.parametrize("work_sd", [None, 0.8])
def test_after_a_dip_all_is_as_without_it(work_sd: float | None) -> None:
    process = Process(ops_per_thread=2.0, sigma=0.0, kappa=0.0, work_sd=work_sd)
    rare = replace(SHIPPED["S1"], seconds=200, processes=[process])
    calm, dipped = np.array(watched(rare)), np.array(watched(rare, 100.0))
    changed = np.flatnonzero(calm != dipped)
    assert len(changed) >= 3
    assert 400 <= changed.min() <= changed.max() <= 417
    assert dipped[changed].sum() < 0.5 * calm[changed].sum()


def test_where_a_program_starts() -> None:
    starting = replace(SHIPPED["S1"], noise=CALM, seconds=20, scored_from_s=0, start=10)
    trial = Simulation(starting, partial(POLICIES["fixed"].make, {"size": 10}), 0).run()
    assert trial.switches == 0
    assert trial.done == trial.best


def test_retries_amplify_overload() -> None:
    """The program can serve 900 of 1000 requests a second; half of the others come again.

    A try that times out takes a fifth of the work. 1000 + 0.5 f are tried, f fail, and f / 5 of the
    capacity is wasted: 900 = 1000 + 0.5 f - 0.8 f, so f = 333 and 833 succeed.
    """
    retries = Retries(again_percent=50, wasted_percent=20)
    assert goodput(retries, 1000, 900) == pytest.approx(1000 - 0.5 * 1000 / 3)
    assert goodput(retries, 1000, 1000) == pytest.approx(1000)
    assert goodput(replace(retries, again_percent=0), 1000, 900) == pytest.approx(875)
    assert goodput(retries, 1000, 100) == pytest.approx(10), "a tenth of the capacity is left"


def test_the_stages_of_a_pipeline_do_what_the_slowest_one_can_do() -> None:
    scenario = replace(
        SHIPPED["S1"], processes=[Process(), Process(ops_per_thread=500)], coupled=True
    )
    pools = SimulatedPools(scenario, [[PHASE], [PHASE]])
    alone = SimulatedPools(replace(scenario, coupled=False), [[PHASE], [PHASE]])
    fast, slow = alone.capacities((8, 8), (0, 0))
    assert slow < fast
    assert pools.capacities((8, 8), (0, 0)) == (slow, slow)
    assert pools.capacities((8, 8), (0, -1)) == (alone.capacities((8, 8), (0, -1))[0], 0)
