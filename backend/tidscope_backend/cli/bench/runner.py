"""Runs a campaign of simulated trials on all cores."""

import os
from collections.abc import Iterator, Sequence
from multiprocessing import get_context

from tidscope_policies.simulation.campaign import Row, list_jobs, make_rows, run_job
from tidscope_policies.simulation.scenario import Scenario


def run_campaign(
    policies: Sequence[str], scenarios: Sequence[Scenario], seeds: int, workers: int | None = None
) -> Iterator[Row]:
    """Yield one row a policy, in their order, each as soon as it is known.

    Args:
        policies: names.
        scenarios: what they are tried on.
        seeds: how many, from 0 on.
        workers: processes; None: one for each core this process may use.
    """
    jobs = list_jobs(policies, scenarios, seeds)
    count = min(workers or len(os.sched_getaffinity(0)), len(jobs))
    # Not fork: the caller may have threads.
    with get_context("spawn").Pool(count) as pool:
        outcomes = pool.imap(run_job, jobs, chunksize=max(1, seeds // 4))
        yield from make_rows(policies, scenarios, seeds, outcomes)
