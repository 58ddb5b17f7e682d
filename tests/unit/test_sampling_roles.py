"""Sums by role, with exact numbers. What threads do in any order: test_sampling_totals.py."""

from collections.abc import Mapping, Sequence

import numpy as np
from tidscope_collector.sampling.roles import MAX_NAMED_ROLES, MAX_NAMES, RoleSums
from tidscope_collector.threads.reading import Reading
from tidscope_wire.generated.models import FrameHeader, RoleTotals
from tidscope_wire.role import RoleRule

FIELDS = ("cpu_run_ns", "blkio_delay_ns")


def reading(rows: Sequence[Sequence[int | None]]) -> Reading:
    """Live threads with these counters; None is absent, with rubbish in its place."""
    absent = np.array([[value is None for value in row] for row in rows]).reshape(-1, 2)
    values = [[99 if value is None else value for value in row] for row in rows]
    return Reading(
        np.arange(10, 10 + len(rows), dtype=np.uint32),
        np.array(values, np.uint64).reshape(-1, 2),
        absent if absent.any() else None,
        np.zeros(len(rows), np.int64),
        np.array([b""] * len(rows), "S16"),
    )


def reported(
    sums: RoleSums, names: Sequence[str] = (), *rows: Sequence[int | None]
) -> Mapping[str | None, RoleTotals]:
    return {role.role: role for role in sums.summary(reading(rows), names, FIELDS)}


def test_rows_of_a_role_add_up_and_absent_values_are_left_out() -> None:
    roles = reported(
        RoleSums(), ["io-1", "main", "io-22", "io-3"], [1, 2], [10, None], [3, None], [2**63, 7]
    )
    assert roles == {
        "io-#": RoleTotals(
            role="io-#", live=3, exited=0, totals={"cpu_run_ns": 2**63 + 4, "blkio_delay_ns": 9}
        ),
        "main": RoleTotals(role="main", live=1, exited=0, totals={"cpu_run_ns": 10}),
    }


def test_the_ended_stay() -> None:
    sums = RoleSums()
    sums.ended("io-1", {"cpu_run_ns": 5})
    assert reported(sums, ["io-2"], [2, 1])["io-#"] == RoleTotals(
        role="io-#", live=1, exited=1, totals={"cpu_run_ns": 7, "blkio_delay_ns": 1}
    )
    assert reported(sums)["io-#"] == RoleTotals(
        role="io-#", live=0, exited=1, totals={"cpu_run_ns": 5}
    )


def test_what_was_done_under_a_name_stays_with_its_role() -> None:
    sums = RoleSums()
    assert reported(sums, ["main"], [100, None])["main"].totals == {"cpu_run_ns": 100}
    sums.renamed("main", "io-1", {"cpu_run_ns": 100})
    roles = reported(sums, ["io-1"], [130, 4])
    assert roles["main"] == RoleTotals(role="main", live=0, exited=0, totals={"cpu_run_ns": 100})
    assert roles["io-#"].totals == {"cpu_run_ns": 30, "blkio_delay_ns": 4}
    # Another number is the same role.
    sums.renamed("io-1", "io-2", {"cpu_run_ns": 130, "blkio_delay_ns": 4})
    assert reported(sums, ["io-2"], [130, 4]) == roles
    sums.ended("io-2", {"cpu_run_ns": 131, "blkio_delay_ns": 4})
    assert reported(sums)["io-#"] == RoleTotals(
        role="io-#", live=0, exited=1, totals={"cpu_run_ns": 31, "blkio_delay_ns": 4}
    )


def test_a_late_record_corrects_and_an_heir_counts_once() -> None:
    sums = RoleSums()
    sums.ended("io-1", {"cpu_run_ns": 5})
    sums.corrected("io-1", {"cpu_run_ns": 5}, {"cpu_run_ns": 8, "blkio_delay_ns": 2})
    assert reported(sums)["io-#"] == RoleTotals(
        role="io-#", live=0, exited=1, totals={"cpu_run_ns": 8, "blkio_delay_ns": 2}
    )
    # It lives on as the program that it executed, with counters that went on.
    sums.counted("program", {"cpu_run_ns": 8, "blkio_delay_ns": 2})
    roles = reported(sums, ["program"], [9, 2])
    assert roles["program"].totals == {"cpu_run_ns": 1, "blkio_delay_ns": 0}
    assert roles["io-#"].totals == {"cpu_run_ns": 8, "blkio_delay_ns": 2}


def test_roles_beyond_the_bound_share_one_place() -> None:
    sums = RoleSums()
    names = ["".join(chr(ord("a") + int(digit)) for digit in str(i)) for i in range(200)]
    roles = reported(sums, names, *[[1, 1]] * 200)
    assert list(roles) == [*names[:MAX_NAMED_ROLES], None]
    assert roles[None].live == 200 - MAX_NAMED_ROLES
    assert roles[None].totals == {"cpu_run_ns": 137, "blkio_delay_ns": 137}
    # They fit into a header, and keep their places whoever comes and goes.
    schema = FrameHeader.model_json_schema()["properties"]["roles"]
    assert len(roles) == schema["anyOf"][0]["maxItems"]
    assert list(reported(sums, [names[-1]], [1, 1])) == list(roles)
    sums.renamed(names[0], names[-1], {"cpu_run_ns": 1, "blkio_delay_ns": 1})
    sums.renamed(names[-2], names[-1], {"cpu_run_ns": 1, "blkio_delay_ns": 1})
    roles = reported(sums, names[1:-1] + names[-1:] * 2, *[[1, 1]] * 200)
    assert roles[names[0]].totals == {"cpu_run_ns": 1, "blkio_delay_ns": 1}
    assert roles[None].totals == {"cpu_run_ns": 137, "blkio_delay_ns": 137}


def test_names_without_end_fill_nothing() -> None:
    sums = RoleSums()
    for i in range(2 * MAX_NAMES):
        sums.counted(f"job-{i}", {})
    assert reported(sums)["job-#"].totals == {}
    assert len(sums._keys) <= MAX_NAMES


def test_names_of_ended_threads_are_not_kept() -> None:
    """A program that starts two threads a second has 170,000 names a day, and one role."""
    sums = RoleSums()
    for number in range(100):
        name = f"task-{number}"
        reported(sums, ["main", name], [1, 2], [3, 4])
        sums.ended(name, {"cpu_run_ns": 1})
        assert len(sums._keys) == 1
    assert reported(sums)["task-#"].exited == 100


def test_a_counter_that_was_settled_below_what_it_was_at_the_renaming_is_0() -> None:
    sums = RoleSums()
    sums.renamed("main", "io-1", {"cpu_run_ns": 100})
    assert reported(sums, ["io-1"], [60, None])["io-#"].totals == {"cpu_run_ns": 0}


def test_a_person_s_rules_merge_roles_and_keep_names_apart() -> None:
    sums = RoleSums([RoleRule("http-*", "web"), RoleRule("shard-?", "*")])
    sums.ended("http-9-Poller", {"cpu_run_ns": 1})
    names = ["http-1-exec-1", "shard-1", "shard-2", "main"]
    roles = reported(sums, names, [2, 0], [3, 0], [4, 0], [5, 0])
    cpu = {role: one.totals["cpu_run_ns"] for role, one in roles.items()}
    assert cpu == {"web": 3, "shard-1": 3, "shard-2": 4, "main": 5}
