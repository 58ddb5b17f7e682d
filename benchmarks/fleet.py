"""Totals by role of many hosts: how fast they are committed, how large they are, and how fast a
question is answered.

Hosts are made up: each has roles whose counters grow by random amounts every ten seconds. Their
rows go through the product's own parts, committer and queries. Slow hosts are known beforehand, and
the question has to find them.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from tidscope_backend.fleet.part_shipper import PartShipper
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.recent_roles import EVERY_S
from tidscope_backend.fleet.role_keeper import COMMITTER, PART_ROWS, write_part
from tidscope_backend.fleet.role_rows import COUNTERS, SCHEMA
from tidscope_backend.fleet.role_table import open_table, staged_parts
from tidscope_backend.processes import run_module

MOVING = 24
"""Number of counters that grow; the kernel gives some of the others, and they stand still."""
SLOW = 20
"""Number of hosts whose threads wait for CPUs eight times as long."""
MONTH_S = 30 * 86400.0
QUESTION = """
select host_name, sum(waited) as waited from (
  select host_name, target, max(cpu_delay_ns) - min(cpu_delay_ns) as waited from roles
  where role = 'worker-#' and program = 'program-0' group by all)
group by all order by waited desc limit 20
"""


class Made:
    """Made-up hosts.

    Args:
        hosts: number of hosts.
        roles: number of roles of each.
    """

    def __init__(self, hosts: int, roles: int) -> None:
        self._random = np.random.default_rng(1)
        self._count = hosts * roles
        host = np.repeat(np.arange(hosts), roles)
        role = np.tile(np.arange(roles), hosts)
        self.slow = {f"host-{at}" for at in range(0, hosts, max(1, hosts // SLOW))}
        names = [f"host-{at}" for at in host]
        self._fixed: dict[str, list[object]] = {
            "host": [f"h-{at:012x}" for at in host],
            "host_name": list(names),
            "target": [f"t-{at}-0000000a" for at in host],
            "program": [f"program-{at // 10}" for at in role],
            "pid": [1000 + int(at) for at in role],
            "role": ["worker-#" if at % 10 == 0 else f"role-{at}" for at in role],
            "live": [8] * self._count,
            "exited": [0] * self._count,
            "labels": [None] * self._count,
        }
        self._columns = {
            name: pa.array(rows, SCHEMA.field(name).type) for name, rows in self._fixed.items()
        }
        self._totals = np.zeros((len(COUNTERS), self._count), np.int64)
        self._pace = np.where([name in self.slow for name in names], 8, 1)

    def instant(self, when: datetime) -> pa.Table:
        """Return the rows of an instant."""
        grown = self._random.integers(0, 10**9, (MOVING, self._count))
        delay = COUNTERS.index("cpu_delay_ns")
        self._totals[:MOVING] += grown
        self._totals[delay] += grown[0] * self._pace
        times = pa.array([when] * self._count, SCHEMA.field("time").type)
        # Arrays of Arrow share memory with those of NumPy, which change.
        totals = self._totals.copy()
        counters = {name: pa.array(row) for name, row in zip(COUNTERS, totals, strict=True)}
        return pa.table({"time": times, **self._columns, **counters}, SCHEMA)


def instants(hours: float) -> Iterator[datetime]:
    """Yield instants every ten seconds until two hours ago, so that each hour is merged."""
    count = int(hours * 3600 / EVERY_S)
    last = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    for at in range(count):
        yield last - timedelta(seconds=EVERY_S * (count - at))


def write_parts(made: Made, folder: Path, hours: float) -> None:
    """Write the parts of a time, of a minute each or less, as a backend does."""
    minute: list[pa.Table] = []

    def write() -> None:
        if minute:
            write_part(folder / STAGED, pa.concat_tables(minute))
            minute.clear()

    for when in instants(hours):
        minute.append(made.instant(when))
        if len(minute) == 6 or sum(one.num_rows for one in minute) >= PART_ROWS:
            write()
    write()


def used() -> tuple[float, int]:
    """Return CPU time in seconds and greatest memory in MiB of children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def measure(hosts: int, roles: int, hours: float, store: str | None) -> dict[str, float]:
    """Return all figures."""
    made = Made(hosts, roles)
    with tempfile.TemporaryDirectory(prefix="tidscope-fleet-") as name:
        folder = Path(name)
        write_parts(made, folder, hours)
        waiting = staged_parts(folder)
        part_bytes = sum(one.stat().st_size for one in waiting)
        began = time.monotonic()
        if store is not None:
            PartShipper(folder / STAGED, store, print).ship()
        sent_s = time.monotonic() - began
        before, _ = used()
        began = time.monotonic()
        place = () if store is None else (store,)
        subprocess.run(run_module(COMMITTER, str(folder), f"{MONTH_S}", *place), check=True)
        committed_s = time.monotonic() - began
        cpu_s, memory = used()
        with connect(folder) as database:
            (found,) = database.sql("select count(*) from roles").fetchall()[0]
            (distinct,) = database.sql(
                "select count(*) from (select distinct time, host, target, pid, role from roles)"
            ).fetchall()[0]
        asked = []
        for _ in range(3):
            began = time.monotonic()
            with connect(folder) as database:
                answer = database.sql(QUESTION).fetchall()
            asked.append(time.monotonic() - began)
        files = [one.file for one in open_table(folder).scan().plan_files()]
    rows = int(hours * 3600 / EVERY_S) * hosts * roles
    table_bytes = sum(one.file_size_in_bytes for one in files)
    if {host for host, _ in answer} != made.slow:
        raise SystemExit("the question did not find the slow hosts")
    return {
        "hosts": hosts,
        "roles": roles,
        "rows": rows,
        "lost": rows - distinct,
        "twice": found - distinct,
        "parts": len(waiting),
        "part_bytes_row": round(part_bytes / rows, 1),
        "objects_s": 0 if store is None else round(len(waiting) / sent_s, 1),
        "objects": len(files),
        "rows_s": round(rows / committed_s),
        "committer_cpu_s": round(cpu_s - before, 1),
        "committer_cpu_us_row": round((cpu_s - before) * 1e6 / rows, 1),
        "committer_mib": memory,
        "bytes_row": round(table_bytes / rows, 1),
        "bytes_host_day": round(table_bytes / hosts / hours * 24),
        "query_s": round(sorted(asked)[1], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--roles", type=int, default=20, help="roles of a host (%(default)s)")
    parser.add_argument("--hours", type=float, default=0.5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store", metavar="URL", help="store such as s3://BUCKET/PREFIX")
    options = parser.parse_args()
    figures = measure(options.hosts, options.roles, options.hours, options.store)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value:g}")


if __name__ == "__main__":
    main()
