"""Decisions changed by one dip, against the regret: a frontier over settings of a policy.

Each setting runs on all plants that come with `tidscope policies bench`, or on its families. In
plants without dips each seed runs once without and `--dips` times with a single dip, which begins
somewhere from a tenth to nine tenths of the run; both have the same noise. `one_dip` is the mean
number of decisions that differ, with its standard error over pairs of plant and seed;
`one_dip_worse` counts those of them by whose sizes the program does at least 1 % less;
`runs_changed_percent` how many runs differ at all; `dip_regret` what a dip adds to the regret, in
percent of what is best. Ours were tuned on seeds from 1000 on.

A dip leaves 5 % of the throughput. With `--left 99.9` it takes a thousandth of it away, which
nothing could tell from noise: what changes then is due to the policy being sensitive to what it
measures, and not to dips.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import isnan, nan, sqrt
from multiprocessing import get_context
from statistics import fmean, stdev

from tidscope_backend.cli.policy_bench import FAMILIES, SHIPPED, Provenance, shipped
from tidscope_policies.registry import POLICIES
from tidscope_policies.simulation.campaign import Job, Score, differing, one_dip_s, score, worse
from tidscope_policies.simulation.trial import Simulation, Trial

SETTINGS: Mapping[str, Mapping[str, float]] = {
    "as it is": {},
    "forgets faster": {"drift": 0.02},
    "moves for the least gain": {"sure": 0.0, "margin": 0.0},
    "moves when surer": {"sure": 3.0},
    "nothing kept after a change": {"kept": 0.0},
    "searches shortly": {"horizon": 10.0},
    "seldom tries": {"rest": 100},
    "nothing unusual is a change": {"odd": 100.0, "threshold": 1000.0},
    "searches once": {"odd": 100.0, "threshold": 1000.0, "rest": 1000},
    "hardly moves": {"horizon": 0.0, "odd": 100.0, "threshold": 1000.0, "rest": 1000},
}
"""Parameters that differ from their defaults."""


@dataclass(frozen=True, slots=True)
class Found:
    """Result of one seed of a plant: the score without dips, and the changes by each dip."""

    plant: str
    score: Score
    changed: tuple[int, ...]
    worse: tuple[int, ...]
    regrets: tuple[float, ...]


def run(job: Job, dips: int, left_percent: float) -> Found:
    """Run one seed, without and with each dip."""

    def trial(begin_s: float | None) -> Trial:
        make = partial(POLICIES[job.policy].make, job.given)
        return Simulation(job.scenario, make, job.seed, begin_s, left_percent).run()

    calm = trial(None)
    scored = score(job.scenario, calm)
    if job.scenario.dips is not None:
        return Found(job.scenario.name, scored, (), (), ())
    begins = [one_dip_s(replace(job, seed=job.seed * dips + at)) for at in range(dips)]
    dipped = [trial(begin_s) for begin_s in begins]
    return Found(
        job.scenario.name,
        scored,
        tuple(differing(calm, each) for each in dipped),
        tuple(worse(calm, each) for each in dipped),
        tuple(score(job.scenario, each).regret_percent - scored.regret_percent for each in dipped),
    )


def summary(found: Sequence[Found]) -> dict[str, float]:
    """Summarise all seeds of a setting."""
    names = list(dict.fromkeys(each.plant for each in found))
    by_name = {name: [each for each in found if each.plant == name] for name in names}
    regrets = {n: fmean(each.score.regret_percent for each in f) for n, f in by_name.items()}
    switches = {n: fmean(each.score.switches_per_min for each in f) for n, f in by_name.items()}
    changed = [count for each in found for count in each.changed]
    by_seed = [fmean(each.changed) for each in found if each.changed]
    steady = [regret for name, regret in regrets.items() if name.startswith("S")]
    figures = {
        "one_dip": fmean(changed),
        "one_dip_worse": fmean(count for each in found for count in each.worse),
        "one_dip_error": stdev(by_seed) / sqrt(len(by_seed)),
        "runs_changed_percent": 100 * fmean(count > 0 for count in changed),
        "dip_regret": fmean(more for each in found for more in each.regrets),
        "mean": fmean(regrets.values()),
        "worst": max(regrets.values()),
        "s1_to_s6": fmean(steady) if steady else nan,
        "switches_per_min": max(switches.values()),
    }
    return {name: round(value, 3) for name, value in figures.items() if not isnan(value)}


def main() -> int:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--policy", default="cooperative", choices=("cooperative", "kalman-kg"))
    parser.add_argument("--setting", action="append", choices=list(SETTINGS), help="default: all")
    parser.add_argument("--families", action="store_true", help="run the families of the bench")
    parser.add_argument("--only", action="append", metavar="PLANT", help="default: all")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--dips", type=int, default=3, help="single dips for each seed")
    parser.add_argument("--left", type=float, default=5.0, help="percent left of the throughput")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    shown = shipped(FAMILIES if options.families else SHIPPED)
    plants = [each for each in shown if not options.only or each.name in options.only]
    if all(plant.draw(options.first_seed).dips is not None for plant in plants):
        parser.error("all of these plants have dips in any case, or there are none")
    rows: dict[str, dict[str, float]] = {}
    with get_context("spawn").Pool(options.workers) as pool:
        for name in options.setting or SETTINGS:
            jobs = [
                Job(options.policy, plant.draw(seed), seed, SETTINGS[name])
                for plant in plants
                for seed in seeds
            ]
            rows[name] = summary(
                pool.map(
                    partial(run, dips=options.dips, left_percent=options.left), jobs, chunksize=1
                )
            )
            if not options.json:
                print(name.ljust(30), *(f"{key} {value:g}" for key, value in rows[name].items()))
                sys.stdout.flush()
    if options.json:
        about = {
            "policy": options.policy,
            "dips": options.dips,
            "left": options.left,
            **asdict(Provenance.here()),
        }
        about |= {"seeds": options.seeds, "first_seed": options.first_seed}
        print(json.dumps({"settings": rows, **about}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
