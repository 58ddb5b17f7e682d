"""Pools in what programs serve to Prometheus."""

import pytest
from tidscope_collector.inspection.own_server import NotServedError, ask_samples
from tidscope_collector.pools.prometheus import METRICS, pools_of
from tidscope_wire.generated.agent import AgentPool

GO = """# HELP go_sched_gomaxprocs_threads The current runtime.GOMAXPROCS setting.
# TYPE go_sched_gomaxprocs_threads gauge
go_sched_gomaxprocs_threads 6
# TYPE go_sched_latencies_seconds histogram
go_sched_latencies_seconds_bucket{le="6.399999999999999e-08"} 5
go_sched_latencies_seconds_bucket{le="4.096e-06"} 9
go_sched_latencies_seconds_bucket{le="+Inf"} 10
go_sched_latencies_seconds_sum 0.02
go_sched_latencies_seconds_count 10
go_gc_duration_seconds{quantile="0"} 3.9e-05
"""
JAVA = """# TYPE executor_pool_max_threads gauge
executor_pool_max_threads{name="requests",} 8.0
executor_active_threads{name="requests",} 3.0
executor_queued_tasks{name="requests",} 12.0
executor_completed_tasks_total{name="requests",} 4711.0
hikaricp_connections_max{pool="orders",} 10.0
hikaricp_connections_active{pool="orders",} 4.0
hikaricp_connections_pending{pool="orders",} 1.0
executor_active_threads{name="broken",} NaN
"""


def pools_in(text: str) -> list[AgentPool]:
    """The pools that a text tells of, as a limited child parses it."""
    return pools_of(ask_samples(text.encode(), METRICS))


def test_go_tells_of_gomaxprocs_and_how_long_goroutines_waited() -> None:
    (pool,) = pools_in(GO)
    assert (pool.name, pool.kind, pool.size, pool.started) == ("GOMAXPROCS", "gomaxprocs", 6, None)
    assert pool.queue_wait is not None
    assert {b: n for b, n in enumerate(pool.queue_wait) if n} == {0: 5, 2: 4, 31: 1}


def test_java_tells_of_executors_and_connections() -> None:
    requests, orders = pools_in(JAVA)
    assert (requests.name, requests.kind) == ("requests", "threads")
    assert (requests.size, requests.busy, requests.queue) == (8, 3, 12)
    assert (requests.finished, requests.response_ns) == (4711, None)
    assert (orders.kind, orders.size, orders.busy, orders.queue) == ("connections", 10, 4, 1)


def test_other_programs_tell_of_none() -> None:
    assert pools_in("http_requests_total 5\n") == []
    assert pools_in("") == []


def test_nonsense_is_refused() -> None:
    with pytest.raises(NotServedError):
        pools_in("executor_active_threads{name= 5\n")
