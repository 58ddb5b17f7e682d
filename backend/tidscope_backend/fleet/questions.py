"""Fixed questions about many hosts, answered from the totals by role in DuckDB.

Each takes a database with the view `roles` (queries.py). No SQL comes from outside: values are
parameters, and names of counters are those of the field catalogue.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    FigureDifference,
    FleetAcross,
    FleetComparison,
    FleetCurve,
    FleetFigure,
    FleetHost,
    FleetHosts,
    FleetMetric,
    FleetRole,
    FleetValue,
    GroupFigure,
    Verdict,
)
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.comparison.statistics import difference, group_figure
from tidscope_backend.fleet.host_search import Searched, matches
from tidscope_backend.fleet.role_rows import COUNTERS
from tidscope_backend.fleet.steps import (
    Chosen,
    Window,
    make_steps,
    make_totals,
    matrix,
    rates,
    rounded,
)
from tidscope_backend.state_groups import NATURES, fields_of_natures

if TYPE_CHECKING:
    import duckdb

MAX_ROLES = 1000
"""Maximum roles that the wall names; further ones are on the fewest hosts."""
MAX_CURVES = 8
"""Number of hosts whose curves are drawn."""
CONFIDENCE = (
    "Intervals are 95 % confidence intervals, each host a repeat: of a mean by Student's t, of a "
    "difference by Welch's t, assuming independent, normally distributed hosts."
)
ONE_HOST = "One host in a set: it may be chance."
WITHOUT_LEDGER: dict[str, tuple[str, ...]] = {
    "running": ("cpu_run_ns",),
    "runnable": ("cpu_delay_ns",),
    "blocked": ("blkio_delay_ns", "swapin_delay_ns", "reclaim_delay_ns", "thrashing_delay_ns"),
}
"""Fields whose sum replaces the time in a nature if there are no times in states."""
_FIELDS = {field.name: field for field in CATALOGUE.fields}


def wall(database: "duckdb.DuckDBPyConnection", window: Window) -> FleetHosts:
    """Return what each host did: threads by nature, cores over time, and roles."""
    make_steps(database, window, {"cpu": "cpu_run_ns", **_natures()}, Chosen())
    used = f"where place < {MAX_ROLES}"
    database.execute(
        """
        create or replace temp table pairs as
        select program, role, count(distinct host) as hosts,
            row_number() over (order by hosts desc, program, role) - 1 as place
        from steps group by program, role
        """
    )
    pairs = database.execute(
        f"select program, role, hosts from pairs {used} order by place"
    ).fetchall()
    sums = ", ".join(f"sum({name}) as {name}" for name in NATURES)
    make_totals(database, NATURES)
    seconds = ", ".join(
        f"coalesce({name} / 1e3 / nullif(covered_us, 0), 0) as {name}" for name in NATURES
    )
    rows = database.execute(
        f"""
        with shares as (select host, program, role, live, {seconds} from totals),
        named as (
            select host, list(distinct pairs.place order by pairs.place) as roles
            from steps join pairs on steps.program = pairs.program
                and steps.role is not distinct from pairs.role
            {used} group by host)
        select hosts.host, name, labels, sum(live) as live, any_value(named.roles), {sums}
        from shares join hosts using (host) left join named using (host)
        group by hosts.host, name, labels, hosts.place order by hosts.place
        """
    ).fetchall()
    curves = database.execute(rates("cpu")).fetchnumpy()
    cores = matrix(curves, len(rows), window.steps)
    return FleetHosts(
        **_window(window),
        kept=True,
        note=None,
        hosts=[
            FleetHost(
                host=host,
                name=name,
                labels=_labels(labels),
                connected=False,
                targets=[],
                threads=rounded(live),
                states=_states(live, natures),
                cores=[None if one is None else rounded(one / 1e9) for one in cores[place]],
                roles=roles or [],
            )
            for place, (host, name, labels, live, roles, *natures) in enumerate(rows)
        ],
        roles=[FleetRole(program=program, role=role, hosts=n) for program, role, n in pairs],
    )


def across(
    database: "duckdb.DuckDBPyConnection", window: Window, chosen: Chosen, counter: str
) -> FleetAcross:
    """Return a counter of a role on all hosts: bands over time, and a value of each host."""
    make_steps(database, window, {"value": _known(counter)}, chosen)
    make_totals(database, ["value"])
    rows = database.execute(
        """
        select host, name, labels, sum(live), sum(1e6 * value / covered_us) as value, place
        from totals join hosts using (host)
        where covered_us > 0 and totals.value is not null
        group by host, name, labels, place order by value desc, name
        """
    ).fetchall()
    bands = database.execute(
        f"""
        select step, quantile_cont(rate, [0.1, 0.5, 0.9]) from ({rates("value")})
        group by step order by step
        """
    ).fetchall()
    levels: list[list[float | None]] = [[None] * window.steps for _ in range(3)]
    for step, found in bands:
        for level, value in zip(levels, found, strict=True):
            level[step] = rounded(value)
    middle = sorted(row[4] for row in rows)[len(rows) // 2] if rows else 0.0
    far = sorted(rows, key=lambda row: -abs(row[4] - middle))[:MAX_CURVES]
    curves = (
        matrix(
            database.execute(rates("value")).fetchnumpy(),
            1 + max((row[5] for row in rows), default=-1),
            window.steps,
        )
        if far
        else []
    )
    return FleetAcross(
        from_us=window.from_us,
        to_us=window.to_us,
        step_us=window.step_us,
        counter=counter,
        label=_FIELDS[counter].label,
        unit=f"{_FIELDS[counter].unit}/s",
        note=None,
        p10=levels[0],
        median=levels[1],
        p90=levels[2],
        hosts=[
            FleetValue(
                host=host,
                name=name,
                labels=_labels(labels),
                value=rounded(value),
                threads=rounded(live),
            )
            for host, name, labels, live, value, _ in rows
        ],
        curves=[FleetCurve(host=row[0], values=curves[row[5]]) for row in far],
    )


def compare(
    database: "duckdb.DuckDBPyConnection",
    window: Window,
    chosen: Chosen,
    first: str,
    other: str,
) -> FleetComparison:
    """Compare two sets of hosts, each host a repeat.

    Args:
        database: database with the view `roles`.
        window: the window.
        chosen: threads in question.
        first: search for the hosts of the baseline; empty for all hosts that are not in the other.
        other: search for the hosts of the other set; empty for all that are not in the first.
    """
    make_steps(database, window, {name: name for name in COUNTERS}, chosen)
    make_totals(database, COUNTERS)
    sums = ", ".join(f"sum(1e6 * {name} / covered_us)" for name in COUNTERS)
    rows = database.execute(
        f"""
        select name, labels, list(distinct program), list(distinct role), {sums}
        from totals join hosts using (host) where covered_us > 0
        group by host, name, labels order by name
        """
    ).fetchall()
    searched = [
        Searched(name, _labels(labels), programs, [one for one in roles if one is not None])
        for name, labels, programs, roles, *_ in rows
    ]
    chosen_other = [bool(other) and matches(other, one) for one in searched]
    chosen_first = [
        matches(first, one) if first else not beside
        for one, beside in zip(searched, chosen_other, strict=True)
    ]
    if not other:
        chosen_other = [not one for one in chosen_first]
    # A host that both searches find would be compared with itself.
    chosen_first = [a and not b for a, b in zip(chosen_first, chosen_other, strict=True)]

    def values(place: int, wanted: Sequence[bool]) -> list[float]:
        found = [row[4 + place] for row, here in zip(rows, wanted, strict=True) if here]
        return [value for value in found if value is not None]

    metrics = []
    for place, counter in enumerate(COUNTERS):
        sides = [group_figure(values(place, wanted)) for wanted in (chosen_first, chosen_other)]
        if all(side.n for side in sides) and any(side.mean for side in sides):
            metrics.append(_metric(counter, sides[0], sides[1]))
    return FleetComparison(
        **_window(window),
        note=None,
        first=[one.name for one, here in zip(searched, chosen_first, strict=True) if here],
        other=[one.name for one, here in zip(searched, chosen_other, strict=True) if here],
        metrics=metrics,
        confidence=CONFIDENCE,
    )


def _metric(counter: str, first: GroupFigure, other: GroupFigure) -> FleetMetric:
    found = difference(first, other)
    return FleetMetric(
        **_shown(counter),
        first=_figure(first),
        other=_figure(other),
        difference=FigureDifference(
            absolute=found.absolute,
            percent=found.percent,
            low=found.low,
            high=found.high,
            method=found.method,
            verdict=_verdict(found.absolute, found.low, found.high),
            caveat=ONE_HOST if found.low is None else None,
        ),
    )


def _verdict(absolute: float | None, low: float | None, high: float | None) -> Verdict:
    if absolute is None:
        return "unknown"
    if absolute == 0:
        return "equal"
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    return "more" if absolute > 0 else "less"


def _figure(figure: GroupFigure) -> FleetFigure:
    return FleetFigure(n=figure.n, mean=figure.mean, low=figure.low, high=figure.high)


def _known(counter: str) -> str:
    if counter not in COUNTERS:
        raise ValueError(f"{counter!r} is not a counter of threads")
    return counter


def _shown(counter: str) -> dict[str, str]:
    field = _FIELDS[counter]
    return {"counter": counter, "label": field.label, "unit": f"{field.unit}/s"}


def _window(window: Window) -> dict[str, int]:
    return {"from_us": window.from_us, "to_us": window.to_us, "step_us": window.step_us}


def _labels(text: str | None) -> dict[str, str]:
    found: dict[str, str] = json.loads(text) if text else {}
    return found


def _natures() -> dict[str, str]:
    """Return SQL for the time in each nature; where no time in states is known, delays."""
    natures = fields_of_natures()
    any_state = f"coalesce({', '.join(STATE_FIELDS)})"
    return {
        nature: f"case when {any_state} is null then {_sum(WITHOUT_LEDGER.get(nature, ()))} "
        f"else {_sum(natures[nature])} end"
        for nature in NATURES
    }


def _sum(fields: Sequence[str]) -> str:
    return " + ".join(f"coalesce({one}, 0)" for one in fields) or "0"


def _states(live: float, natures: Sequence[float]) -> list[float]:
    """Return threads by nature; time of live threads that nothing is known of is unknown."""
    rest = max(0.0, live - sum(natures))
    return [rounded(one) for one in (*natures[:-1], natures[-1] + rest)]
