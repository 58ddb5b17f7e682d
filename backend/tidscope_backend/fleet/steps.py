"""Rows of a window as steps: one row of a role of a target for each step, in DuckDB.

A step holds the least and the greatest value of each counter. What happened in a step is the
difference between its last row and the last row of the step before, so rows that are there twice,
as in memory and in a part, change nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

STEPS = 30
"""Maximum number of steps of a window."""
MIN_STEP_US = 20_000_000
"""Minimum length of a step: two rows are ten seconds apart."""


@dataclass(frozen=True)
class Window:
    """A window of time, in Unix microseconds."""

    from_us: int
    to_us: int

    @property
    def step_us(self) -> int:
        """Length of a step."""
        return max(MIN_STEP_US, -(-(self.to_us - self.from_us) // STEPS))

    @property
    def steps(self) -> int:
        """Number of steps."""
        return -(-(self.to_us - self.from_us) // self.step_us)


@dataclass(frozen=True)
class Chosen:
    """Threads that a question is about.

    Attributes:
        program: name of their process; None for all.
        role: their role; None for all, "" for the roles beyond the first 63.
    """

    program: str | None = None
    role: str | None = None


def make_steps(
    database: "duckdb.DuckDBPyConnection",
    window: Window,
    columns: Mapping[str, str],
    chosen: Chosen,
) -> None:
    """Make the temporary tables `steps` and `hosts` from the view `roles`.

    Args:
        database: database with the view.
        window: the window.
        columns: SQL expressions of cumulative values, by name.
        chosen: threads in question.
    """
    extremes = "".join(
        f", min({expression}) as first_{name}, max({expression}) as last_{name}"
        for name, expression in columns.items()
    )
    database.execute(
        f"""
        create or replace temp table steps as
        select host, target, program, role, (epoch_us(time) - $from) // $step as step,
            arg_max(host_name, time) as host_name, arg_max(labels, time) as labels,
            epoch_us(min(time)) as first_us, epoch_us(max(time)) as last_us,
            avg(live) as live {extremes}
        from roles
        where time >= make_timestamptz($from) and time < make_timestamptz($to)
            and ($program is null or program = $program)
            and ($role is null or coalesce(role, '') = $role)
        group by host, target, program, role, step
        """,
        {
            "from": window.from_us,
            "to": window.to_us,
            "step": window.step_us,
            "program": chosen.program,
            "role": chosen.role,
        },
    )
    database.execute(
        """
        create or replace temp table hosts as
        select host, arg_max(host_name, last_us) as name, arg_max(labels, last_us) as labels,
            row_number() over (order by name, host) - 1 as place
        from steps group by host
        """
    )


def make_totals(database: "duckdb.DuckDBPyConnection", names: Collection[str]) -> None:
    """Make the temporary table `totals` from `steps`: a row of each role of a host's program.

    Its columns are `live`, what each value grew by, and `covered_us`, the time that rows cover. A
    restarted program is a second target, whose means must not be added to those of the first one.

    Args:
        database: database with the table `steps`.
        names: names of the values.
    """
    grown = "".join(f", {growth(name)} as {name}" for name in names)
    sums = "".join(f", sum({name}) as {name}" for name in names)
    database.execute(
        f"""
        create or replace temp table totals as
        with targets as (
            select host, program, role, min(first_us) as first_us, max(last_us) as last_us,
                avg(live) as live {grown}
            from steps group by host, target, program, role),
        ordered as (
            select *, last_us - greatest(first_us, max(last_us) over earlier) as added_us
            from targets window earlier as (
                partition by host, program, role order by first_us, last_us
                rows between unbounded preceding and 1 preceding))
        select host, program, role, sum(greatest(added_us, 0)) as covered_us,
            coalesce(sum(live * (last_us - first_us)) / nullif(covered_us, 0), sum(live)) as live
            {sums}
        from ordered group by host, program, role
        """
    )


def growth(name: str) -> str:
    """Return SQL for what a value grew by in a group of steps."""
    return f"greatest(max(last_{name}) - min(first_{name}), 0)"


def rates(name: str) -> str:
    """Return SQL that selects place of a host, step, and rate per second of a value, by step."""
    return f"""
        select place, step, sum(rate) as rate from (
            select host, step,
                1e6 * greatest(last_{name} - coalesce(lag(last_{name}) over w, first_{name}), 0)
                    / nullif(last_us - coalesce(lag(last_us) over w, first_us), 0) as rate
            from steps where last_{name} is not null
            window w as (partition by host, target, program, role order by step))
        join hosts using (host)
        where rate is not null group by place, step
    """


def matrix(rows: Mapping[str, Any], hosts: int, steps: int) -> list[list[float | None]]:
    """Return values by place and step, null where there are none.

    Args:
        rows: columns `place`, `step` and `rate`, as arrays.
        hosts: number of places.
        steps: number of steps.
    """
    found: list[list[float | None]] = [[None] * steps for _ in range(hosts)]
    columns: Sequence[list[Any]] = [rows[name].tolist() for name in ("place", "step", "rate")]
    for place, step, rate in zip(*columns, strict=True):
        found[place][step] = rounded(rate)
    return found


def rounded(value: float) -> float:
    """Return a value with five significant digits, which keeps answers short."""
    return float(f"{value:.5g}")
