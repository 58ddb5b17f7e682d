"""Other engines read the table of roles, and answer as DuckDB does: ClickHouse and Spark.

`make engines-test` runs this, and installs both into .cache/engines.
"""

import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.fleet.committer import commit
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.role_keeper import write_part
from tidscope_backend.fleet.role_rows import table_of

HERE = Path(__file__).parent
ENGINES = HERE.parents[1] / ".cache" / "engines"
BEGIN = datetime(2026, 11, 29, 10, 30, tzinfo=UTC)
MONTH = 30 * 86400.0
HOSTS, INSTANTS = 40, 12
ROLES = ("worker-#", "net", None)
LARGE = 2**62
"""Part of a counter that no floating-point number holds exactly."""
pytestmark = pytest.mark.timeout(600)
Ask = Callable[[str], list[list[str]]]


def rows_at(step: int) -> list[dict[str, Any]]:
    """Rows of all hosts at an instant; hosts that are divisible by eight wait for CPUs."""
    return [
        {
            **{"time": BEGIN + timedelta(minutes=10 * step), "host": f"h-{host:012x}"},
            **{"host_name": f"host-{host}", "target": f"t-{host}-a", "program": "server"},
            **{"pid": 100 + host, "role": role, "live": 4, "exited": step},
            **{"labels": '{"zone":"b"}' if host % 2 else None},
            "cpu_run_ns": LARGE + host + step,
            "cpu_delay_ns": step * (10_000_000 if host % 8 == 0 else 1000) + host,
        }
        for host in range(HOSTS)
        for role in ROLES
    ]


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two hours in several commits, whose first hour is merged."""
    folder = tmp_path_factory.mktemp("roles")
    for step in range(INSTANTS):
        table, _ = table_of(rows_at(step))
        write_part(folder / STAGED, table)
        commit(folder, MONTH, BEGIN + timedelta(minutes=10 * step))
    return folder


def answered(program: str, folder: Path, question: str, *more: str) -> list[list[str]]:
    """Answer of a program of this folder in the environment of the engines."""
    words: list[str | Path] = [ENGINES / "bin" / "python", HERE / program, folder, question, *more]
    # ClickHouse reads files below its working directory only.
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = done.stdout.replace('"', "").splitlines()
    return [line.split(",") for line in lines]


@pytest.fixture(params=["clickhouse", "spark"])
def ask(request: pytest.FixtureRequest, roles: Path) -> Ask:
    if request.param == "clickhouse":
        return lambda question: answered("ask_clickhouse.py", roles, question)
    jars = sorted(map(str, (ENGINES / "jars").glob("*.jar")))
    return lambda question: answered("ask_spark.py", roles, question, *jars)


def by_duckdb(folder: Path, question: str) -> list[list[str]]:
    """Answer of `tidscope query`."""
    with connect(folder) as database:
        rows: Sequence[Sequence[object]] = database.sql(question.format(roles="roles")).fetchall()
    return [[str(value) for value in row] for row in rows]


SUMS = """
select count(*), count(distinct host), count(role), count(labels),
  sum(cast(cpu_run_ns as decimal(38, 0))), cast(min(time) as date), max(pid)
from {roles}
"""
SLOWEST = """
select host_name, sum(waited) as waited from (
  select host_name, target, max(cpu_delay_ns) - min(cpu_delay_ns) as waited from {roles}
  where program = 'server' and role = 'worker-#'
    and time >= timestamp '2026-11-29 11:00:00' and time < timestamp '2026-11-29 12:00:00'
  group by host_name, target) as by_target
group by host_name order by waited desc, host_name limit 6
"""


def test_all_rows_are_there_with_their_exact_counters(ask: Ask, roles: Path) -> None:
    rows = HOSTS * INSTANTS * len(ROLES)
    run_ns = sum(row["cpu_run_ns"] for step in range(INSTANTS) for row in rows_at(step))
    named, labelled = rows // 3 * 2, rows // 2
    counts = [str(each) for each in (rows, HOSTS, named, labelled, run_ns)]
    expected = [[*counts, "2026-11-29", str(99 + HOSTS)]]
    assert ask(SUMS) == expected
    assert by_duckdb(roles, SUMS) == expected


def test_the_slowest_hosts_of_an_hour_are_found(ask: Ask, roles: Path) -> None:
    found = ask(SLOWEST)
    slow = [f"host-{host}" for host in sorted(range(0, HOSTS, 8), key=str)]
    assert [host for host, _ in found[: len(slow)]] == slow
    assert found == by_duckdb(roles, SLOWEST)
