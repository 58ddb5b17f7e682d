"""Quantiles of histograms of pools, as the page has them."""

import numpy as np
import pyarrow as pa
import pytest
from tidscope_wire.pools import BUCKETS, QUEUE_WAIT, RESPONSE, quantile_s, upper_s, with_quantiles


def counts(**buckets: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    made = np.zeros(BUCKETS, np.int64)
    for name, count in buckets.items():
        made[int(name[1:])] = count
    return made


def test_within_a_bucket_jobs_are_spread_over_the_logarithm() -> None:
    assert quantile_s(counts(), 0.5) is None
    assert quantile_s(counts(b4=10), 1) == pytest.approx(upper_s(4))
    assert quantile_s(counts(b4=10), 0.5) == pytest.approx(upper_s(4) / 2**0.5)
    assert quantile_s(counts(b4=90, b9=10), 0.95) == pytest.approx(upper_s(9) / 2**0.5)
    assert quantile_s(counts(b4=90, b9=10), 0.9) == pytest.approx(upper_s(4))
    assert quantile_s(counts(b31=1), 0.5) == upper_s(BUCKETS - 1) / 2


def test_pools_without_times_have_none() -> None:
    pools = pa.table({"pool": [1, 2]})
    times = pa.table(
        {
            "pool": [1, 1],
            "time": [RESPONSE, QUEUE_WAIT],
            "bucket": [4, BUCKETS + 5],
            "count": [10, 1],
        }
    )
    first, second = with_quantiles(pools, times).to_pylist()
    assert first["response_p50_s"] == pytest.approx(upper_s(4) / 2**0.5)
    assert first["queue_wait_p99_s"] == upper_s(BUCKETS - 1) / 2
    assert second["response_p50_s"] is None
