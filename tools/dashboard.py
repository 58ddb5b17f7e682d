"""Write packaging/monitoring/dashboard.json: the board of Grafana, from the list of metrics.

`python tools/dashboard.py` rewrites the file; with `--check` it writes nothing and exits 1 if it
differs. Panels take their descriptions from docs/metrics.md and shared/schemas/fields.json; a query
of a metric that is not listed there ends it.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import make_file

BOARD = Path("packaging/monitoring/dashboard.json")
METRIC = re.compile(r"tidscope_\w+")
_SUFFIXES = re.compile(r"_(bucket|sum|count)$")
_WIDTH, _HEIGHT = 8, 8
"""Size of a panel, in units of a board that is 24 wide."""
_SOURCE = {"type": "prometheus", "uid": "${source}"}
Json = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """A chart of the board.

    Attributes:
        title: title.
        unit: unit of Grafana.
        queries: expression by legend; `$of` stands for the chosen targets.
        stacked: True if the series add up to a whole.
    """

    title: str
    unit: str
    queries: Mapping[str, str]
    stacked: bool = False


def _rate(metric: str, by: str, labels: str = "$of") -> str:
    return f"sum by ({by}) (rate({metric}{{{labels}}}[$__rate_interval]))"


def _of_roles(title: str, unit: str, metric: str, stacked: bool = False) -> Panel:
    return Panel(title, unit, {"{{role}}": _rate(f"tidscope_thread_{metric}", "role")}, stacked)


def _of_programs(title: str, unit: str, metric: str) -> Panel:
    return Panel(title, unit, {"{{process}}": _rate(f"tidscope_group_{metric}", "process")})


def _of_pools(title: str, histogram: str) -> Panel:
    rates = _rate(f"tidscope_pool_{histogram}_bucket", "pool, le")
    return Panel(title, "s", {"{{pool}}": f"histogram_quantile(0.95, {rates})"})


_DELAYS = {
    "block I/O": "blkio",
    "swap-in": "swapin",
    "reclaim": "reclaim",
    "thrashing": "thrashing",
    "compaction": "compact",
    "copy on write": "wpcopy",
}
_DELAY = "tidscope_thread_{}_delay_seconds_total"
_THROTTLED = "tidscope_target_cpu_limit_throttled_periods_total{$of}[$__rate_interval]"
_PERIODS = "tidscope_target_cpu_limit_periods_total{$of}[$__rate_interval]"
_SAMPLES = "tidscope_target_sample_duration_seconds"
ROWS: Mapping[str, tuple[Panel, ...]] = {
    "Threads by role": (
        Panel(
            "Threads by state",
            "none",
            {"{{state}}": _rate("tidscope_thread_state_seconds_total", "state")},
            stacked=True,
        ),
        _of_roles("On-CPU time (cores)", "none", "cpu_run_seconds_total", stacked=True),
        _of_roles("Run-queue delay (threads)", "none", "cpu_delay_seconds_total"),
        Panel(
            "Other delays (threads)",
            "none",
            {
                name: f"sum(rate({_DELAY.format(field)}{{$of}}[$__rate_interval]))"
                for name, field in _DELAYS.items()
            },
        ),
        _of_roles("Voluntary context switches", "ops", "voluntary_switches_total"),
        _of_roles("Involuntary context switches", "ops", "involuntary_switches_total"),
        _of_roles("Read from disks", "Bps", "disk_read_bytes_total"),
        _of_roles("Written to disks", "Bps", "disk_write_bytes_total"),
        _of_roles("Major page faults", "ops", "major_faults_total"),
        _of_roles("Received from the network", "Bps", "net_read_bytes_total"),
        _of_roles("Sent to the network", "Bps", "net_write_bytes_total"),
        Panel("Threads", "none", {"{{role}}": "sum by (role) (tidscope_role_threads{$of})"}),
    ),
    "Processes": (
        Panel("Resident memory", "bytes", {"{{target}}": "tidscope_process_rss_bytes{$of}"}),
        Panel(
            "Ended threads",
            "ops",
            {"{{target}}": _rate("tidscope_target_exited_threads_total", "target")},
        ),
        Panel(
            "Periods throttled by the CPU limit",
            "percentunit",
            {"{{target}}": f"rate({_THROTTLED}) / rate({_PERIODS})"},
        ),
    ),
    "Groups by program": (
        _of_programs("On-CPU time (cores)", "none", "cpu_seconds_total"),
        _of_programs("Run-queue delay (threads)", "none", "run_delay_seconds_total"),
        Panel(
            "Processes", "none", {"{{process}}": "sum by (process) (tidscope_group_processes{$of})"}
        ),
    ),
    "Pools of workers": (
        Panel(
            "Workers",
            "none",
            {
                "{{pool}} size": "sum by (pool) (tidscope_pool_size{$of})",
                "{{pool}} busy": "sum by (pool) (tidscope_pool_busy{$of})",
            },
        ),
        Panel("Queue", "none", {"{{pool}}": "sum by (pool) (tidscope_pool_queue{$of})"}),
        Panel("Jobs", "ops", {"{{pool}}": _rate("tidscope_pool_finished_total", "pool")}),
        _of_pools("Response time, 95th percentile", "response_seconds"),
        _of_pools("Queue wait, 95th percentile", "queue_wait_seconds"),
    ),
    "tidscope itself": (
        Panel("Collectors", "none", {"{{host}}": "tidscope_collector_up"}),
        Panel(
            "CPU of the collector (cores)",
            "none",
            {
                "{{host}}": "tidscope_collector_cpu_ratio",
                "{{host}} sampling": "tidscope_collector_measuring_ratio",
                "{{host}} budget": "tidscope_collector_budget_ratio",
            },
        ),
        Panel(
            "Duration of a sample",
            "s",
            {
                "{{target}}": f"rate({_SAMPLES}_sum{{$of}}[$__rate_interval]) / "
                f"rate({_SAMPLES}_count{{$of}}[$__rate_interval])"
            },
        ),
        Panel(
            "Lost",
            "none",
            {
                "frames": "increase(tidscope_frames_lost_total[$__rate_interval])",
                "frames of runs": "increase(tidscope_run_frames_lost_total[$__rate_interval])",
                "exit records, {{host}}": "increase("
                "tidscope_collector_exit_records_lost_total[$__rate_interval])",
            },
        ),
    ),
}
"""Panels by the heading that they stand below."""


def meanings(root: Path) -> dict[str, str]:
    """Return what each metric means, by its name."""
    fields = json.loads((root / "shared/schemas/fields.json").read_text())["fields"]
    of_fields = {f"`{one['name']}`": one["meaning"] for one in fields}
    found: dict[str, str] = {}
    for line in (root / "docs/metrics.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and cells[0].startswith("`tidscope_"):
            found[cells[0].strip("`")] = of_fields.get(cells[-1], cells[-1])
    return found


def dashboard(root: Path) -> str:
    """Make the text of the file.

    Raises:
        SystemExit: a query names a metric that there is not.
    """
    listed = meanings(root)
    board = {
        "title": "tidscope",
        "uid": "tidscope",
        "tags": ["tidscope"],
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": list(_variables())},
        "panels": list(_panels(listed)),
    }
    return json.dumps(board, indent=1, ensure_ascii=False) + "\n"


def _variables() -> Iterator[Json]:
    yield {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    info = "tidscope_target_info"
    for name, query in (
        ("process", f"label_values({info}, process)"),
        ("target", f'label_values({info}{{process=~"$process"}}, target)'),
    ):
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": _SOURCE,
            "definition": query,
            "query": {"query": query, "refId": name},
            "refresh": 2,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }


def _panels(listed: Mapping[str, str]) -> Iterator[Json]:
    y, number = 0, 1
    for heading, panels in ROWS.items():
        yield {"id": number, "type": "row", "title": heading, "gridPos": _place(0, y, 24, 1)}
        y, number = y + 1, number + 1
        for index, panel in enumerate(panels):
            x = index * _WIDTH % 24
            place = _place(x, y + index * _WIDTH // 24 * _HEIGHT, _WIDTH, _HEIGHT)
            yield _panel(panel, number, place, listed)
            number += 1
        y += (len(panels) * _WIDTH + 23) // 24 * _HEIGHT


def _place(x: int, y: int, width: int, height: int) -> Json:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(panel: Panel, number: int, place: Json, listed: Mapping[str, str]) -> Json:
    queries = {
        legend: query.replace("$of", 'target=~"$target"') for legend, query in panel.queries.items()
    }
    (first, *_) = METRIC.findall(next(iter(queries.values())))
    for query in queries.values():
        for metric in METRIC.findall(query):
            if metric not in listed and _SUFFIXES.sub("", metric) not in listed:
                raise SystemExit(f"{panel.title}: docs/metrics.md has no {metric}")
    drawn: Json = {"fillOpacity": 30 if panel.stacked else 0, "showPoints": "never"}
    if panel.stacked:
        drawn["stacking"] = {"mode": "normal", "group": "A"}
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": listed.get(first) or listed[_SUFFIXES.sub("", first)],
        "gridPos": place,
        "datasource": _SOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": drawn},
            "overrides": [],
        },
        "options": {"tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": query,
                "legendFormat": legend,
            }
            for index, (legend, query) in enumerate(queries.items())
        ],
    }


if __name__ == "__main__":
    sys.exit(make_file(BOARD, dashboard, __doc__, "generate"))
