"""Made-up hosts with known rates, as rows of totals by role."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from tidscope_backend.fleet.role_rows import SCHEMA

BEGAN = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
EVERY_S = 10
Rates = Mapping[str, float]
"""Growth per second by counter."""


def rows_of_hosts(
    names: Sequence[str],
    rates: Mapping[str, Rates],
    *,
    changed: Mapping[str, Rates] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    seconds: int = 600,
    live: int = 4,
    began: datetime = BEGAN,
) -> pa.Table:
    """Return rows of every ten seconds.

    Args:
        names: names of the hosts.
        rates: growth per second of each counter, by role; the program is `server`.
        changed: growth in place of these of any role, by host.
        labels: labels by host.
        seconds: length of the time.
        live: threads of each role.
        began: time of the first rows.
    """
    instants = np.arange(0, seconds + 1, EVERY_S)
    hosts, roles = len(names), list(rates)
    count = hosts * len(roles) * len(instants)
    host = np.repeat(np.arange(hosts), len(roles) * len(instants))
    role = np.tile(np.repeat(np.arange(len(roles)), len(instants)), hosts)
    at = np.tile(instants, hosts * len(roles))
    texts = [json.dumps(dict((labels or {}).get(name, {}))) for name in names]
    columns: dict[str, pa.Array] = {
        "time": pa.array([began + timedelta(seconds=int(one)) for one in instants]).take(
            pa.array(np.tile(np.arange(len(instants)), hosts * len(roles)))
        ),
        "host": pa.array([f"h-{one:012x}" for one in range(hosts)]).take(pa.array(host)),
        "host_name": pa.array(list(names)).take(pa.array(host)),
        "target": pa.array([f"t-{one}-0000000a" for one in range(hosts)]).take(pa.array(host)),
        "program": pa.array(["server"] * count),
        "pid": pa.array(1000 + host),
        "role": pa.array(roles).take(pa.array(role)),
        "labels": pa.array(texts).take(pa.array(host)),
        "live": pa.array([live] * count),
        "exited": pa.array([0] * count),
    }
    counters = {name for one in (*rates.values(), *(changed or {}).values()) for name in one}
    for name in counters:
        typical = [rates[one].get(name, np.nan) for one in roles]
        of_host = [(changed or {}).get(one, {}).get(name) for one in names]
        growth = np.array([typical if own is None else [own] * len(roles) for own in of_host])
        grown = growth[host, role]
        unknown = np.isnan(grown)
        columns[name] = pa.array((np.where(unknown, 0, grown) * at).astype(np.int64), mask=unknown)
    absent = {
        field.name: pa.nulls(count, field.type) for field in SCHEMA if field.name not in columns
    }
    return pa.table({name: {**columns, **absent}[name] for name in SCHEMA.names}).cast(SCHEMA)
