"""Size and throughput of a pool over time, in experiments."""

from dataclasses import replace

from experiment_entries import journal
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.journal import Entry, Repeated
from tidscope_backend.experiments.over_time import MAX_SECONDS, seconds_of
from tidscope_backend.experiments.report import markdown
from tidscope_backend.experiments.workload import Value

S = 1_000_000_000


def reading(pool: int, at_s: float, size: int | None, finished: int | None) -> dict[str, object]:
    return {"pool": pool, "read_ns": round(at_s * S), "size": size, "finished": finished}


def test_the_pool_with_most_jobs_is_read_by_second() -> None:
    rows = [
        reading(1, 9.9, 4, 50),
        reading(1, 10.4, 4, 100),
        reading(2, 10.5, 7, 1),
        reading(3, 10.5, 7, None),
        reading(1, 11.4, 6, 300),
        reading(1, 13.4, 8, 700),
    ]
    found = seconds_of(rows, 10 * S)
    # The growth between two readings belongs to the measurement if both do.
    assert found == {"size": [4, 6, None, 8], "throughput": [None, 200, None, 200]}


def test_nothing_is_known_without_a_pool_that_counts() -> None:
    assert seconds_of([], 0) == {}
    assert seconds_of([reading(1, 1, 4, None), reading(2, 1, None, 4)], 0) == {}
    assert seconds_of([reading(1, 1, 4, 4)], 2 * S) == {}
    long = seconds_of([reading(1, 0, 4, 4), reading(1, 1e5, 4, 5)], 0)
    assert len(long["size"]) == MAX_SECONDS


def with_sizes(entries: list[Entry], sizes: dict[str, list[float | None]]) -> list[Entry]:
    return [
        replace(one, seconds={"size": sizes[one.cell], "throughput": [10.0] * 3})
        if isinstance(one, Repeated)
        else one
        for one in entries
    ]


def test_only_sizes_that_change_are_drawn() -> None:
    cells: list[dict[str, Value]] = [
        {"policy": policy, "size": size, "load": load, "language": "go"}
        for load in (1, 2)
        for policy in ("default", "ait")
        for size in (4, 16)
    ]
    sizes: dict[str, list[float | None]] = {}
    entries = journal([(cell, [100.0, 101.0]) for cell in cells])
    for one in entries:
        if isinstance(one, Repeated):
            steered = "policy=ait" in one.cell and "load=1" in one.cell
            sizes[one.cell] = [4.0, None, 6.0] if steered else [4.0, 4.0, 4.0]
    found = analyse(with_sizes(entries, sizes), carried_out=False)
    size, rate = [one for one in found.charts if "over-time" in one.id]
    assert (size.title, rate.title) == ("Size over time: load=1", "Throughput over time: load=1")
    assert [one.name for one in size.series] == ["policy=ait size=4", "policy=ait size=16"]
    assert [(one.x, one.mean) for one in size.series[0].points] == [(0, 4), (2, 6)]
    assert len(rate.series) == 4
    assert "Size over time" in markdown(found)


def test_without_changes_there_are_no_such_charts() -> None:
    entries = journal([({"size": 4}, [100, 101])])
    kept: dict[str, list[float | None]] = {"size=4": [4.0, 4.0, None]}
    found = analyse(with_sizes(entries, kept), carried_out=False)
    assert not any("over-time" in one.id for one in found.charts)
