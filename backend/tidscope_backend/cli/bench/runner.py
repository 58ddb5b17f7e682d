"""Runs a campaign of simulated trials on all cores."""

import os
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import get_context

from tidscope_policies.simulation.campaign import Plant, Row, list_jobs, make_rows, run_job


def run_campaign(
    policies: Sequence[str],
    plants: Sequence[Plant],
    seeds: range,
    workers: int | None = None,
    given: Mapping[str, float] | None = None,
) -> Iterator[Row]:
    """Yield one row a policy, in their order, each as soon as it is known.

    Args:
        policies: names.
        plants: what they are tried on.
        seeds: of the runs.
        workers: processes; None: one for each core this process may use.
        given: parameters of the policies that differ from their defaults.
    """
    jobs = list_jobs(policies, plants, seeds, given)
    count = min(workers or len(os.sched_getaffinity(0)), len(jobs))
    # Not fork: the caller may have threads.
    with get_context("spawn").Pool(count) as pool:
        outcomes = pool.imap(run_job, jobs, chunksize=max(1, len(seeds) // 4))
        yield from make_rows(policies, plants, len(seeds), outcomes)
