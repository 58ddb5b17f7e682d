"""Options of `tidscope critical-path`, and the sets of requests that they select."""

import argparse
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.daily import DAYS
from tidscope_traces.summary.durations import AROUND
from tidscope_traces.summary.options import Projection, Tag

from tidscope_backend.cli.server_options import add_runs_dir_option

_CHANGE = re.compile(r"(.+)=(-?\d+(?:\.\d+)?)ms")
MAX_DAYS = 90


def _operation(text: str) -> Operation:
    service, colon, name = text.partition(":")
    if not colon or not service or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: want SERVICE:OPERATION")
    return Operation(service, name.strip())


def _excluded(text: str) -> list[Operation]:
    """Return possible meanings of a name; names of operations may contain colons."""
    service, _, name = text.partition(":")
    return [Operation("", text), *([Operation(service, name)] if service and name else [])]


def _change(text: str) -> Projection:
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r}: want SERVICE:OPERATION=20ms")
    return Projection(_operation(found[1]), round(float(found[2]) * 1e6))


def _attribute(text: str) -> tuple[Operation, str]:
    operation, _, key = text.partition("=")
    return _operation(operation), key.strip()


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 2 <= int(text) <= MAX_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r}: want 2 to {MAX_DAYS} days")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="traces as Jaeger or OTLP writes them in JSON, gzip or not, or a folder of such "
        "files; without any, the stored traces of an endpoint",
    )
    parser.add_argument(
        "--endpoint",
        type=_operation,
        metavar="E",
        help="requests of this endpoint only, as SERVICE:OPERATION",
    )
    add_runs_dir_option(parser)
    parser.add_argument(
        "--inner",
        action="store_true",
        help="look for the endpoint inside of traces too, not at their root alone",
    )
    parser.add_argument(
        "--roots",
        choices=("single", "merged"),
        default="single",
        help="of a trace with several roots, count the first or all (default: %(default)s)",
    )
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="stored requests of this run only, by its name or id: of its time and its processes",
    )
    for name, word in (("since", "then or later"), ("until", "before then")):
        parser.add_argument(
            f"--{name}",
            type=moment,
            metavar="TIME",
            help=f"requests that began {word} only, as 2026-05-13T14:05, or 10m for so long "
            "ago (s, m, h, d)",
        )
    parser.add_argument(
        "--percentiles",
        type=percentiles,
        default=(0.0, 100.0),
        metavar="LOW-HIGH",
        help="requests between two percentiles of duration only; P50, P95, P99: those around it",
    )
    parser.add_argument(
        "--tag",
        type=tag,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="traces with a span that has this attribute only; repeat for more",
    )
    parser.add_argument(
        "--exclude",
        type=_excluded,
        action="extend",
        default=[],
        metavar="OPERATION",
        help="leave an operation and what it calls out of the path; SERVICE:OPERATION, or "
        "OPERATION for all services; repeat for more",
    )
    parser.add_argument(
        "--less",
        type=_change,
        metavar="E=MSms",
        help="project durations if each call of SERVICE:OPERATION took this much less, as "
        "frontend:GET /=20ms; negative for more",
    )
    parser.add_argument(
        "--by",
        type=_attribute,
        metavar="E=KEY",
        help="own time of SERVICE:OPERATION on the critical path by the value of an attribute of "
        "its spans; without =KEY, of the one that divides them best",
    )
    parser.add_argument(
        "--daily",
        type=_days,
        nargs="?",
        const=DAYS,
        metavar="DAYS",
        help="print instead how each endpoint's latency and shares changed day by day (UTC), up to "
        "the last request, with trends (default: %(const)s days)",
    )
    parser.add_argument(
        "--base",
        type=base_part,
        action="append",
        default=[],
        metavar="SET",
        help="compare with other requests: a file or folder, or run=RUN, since=TIME, until=TIME, "
        "percentiles=LOW-HIGH, tag=KEY=VALUE; repeat for more; other conditions stay the same",
    )
    parser.add_argument(
        "--top", type=int, default=20, metavar="N", help="rows of each table (default: %(default)s)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report as one HTML file")
    parser.add_argument("--folded", type=Path, metavar="FILE", help="write folded stacks")
    parser.add_argument("--dot", type=Path, metavar="FILE", help="write a graph for Graphviz")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


_PERCENTILES = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")
_AGO = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def percentiles(text: str) -> tuple[float, float]:
    """Read LOW-HIGH, P50, P95 or P99."""
    if text.upper() in AROUND:
        return AROUND[text.upper()]
    found = _PERCENTILES.fullmatch(text)
    if found is None or not float(found[1]) <= float(found[2]) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r}: want LOW-HIGH of 0 to 100, or P50, P95, P99")
    return float(found[1]), float(found[2])


@dataclass(frozen=True)
class RequestSet:
    """A choice of requests.

    Attributes:
        files: trace files; empty for stored traces.
        run: run of the requests, or None for any.
        since_ns: minimum start, Unix nanoseconds.
        until_ns: exclusive maximum start.
        percentiles: percentiles of duration of the matching requests.
        tags: required tags of a span.
    """

    files: tuple[Path, ...] = ()
    run: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    percentiles: tuple[float, float] = (0.0, 100.0)
    tags: tuple[Tag, ...] = ()


Part = tuple[str, Any]
"""Attribute name and value of a request set."""


def tag(text: str) -> Tag:
    """Read KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"{text!r}: want KEY=VALUE")
    return Tag(key, value)


def moment(text: str) -> int:
    """Read a time, local unless it has a zone, or an age; return Unix nanoseconds."""
    if found := _AGO.fullmatch(text):
        return time.time_ns() - round(float(found[1]) * _SECONDS[found[2]] * 1e9)
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1e6) * 1000
    except (ValueError, OverflowError, OSError):
        msg = f"{text!r}: want a time as 2026-05-13T14:05, or 30s, 10m, 2h or 1d ago"
        raise argparse.ArgumentTypeError(msg) from None


_PARTS: dict[str, Callable[[str], Any]] = {
    "run": str,
    "since": moment,
    "until": moment,
    "percentiles": percentiles,
    "tag": tag,
}


def base_part(text: str) -> Part:
    """Read a file, or NAME=VALUE, of the comparison set."""
    name, equals, value = text.partition("=")
    if equals and name in _PARTS:
        return name, _PARTS[name](value)
    return "file", Path(text)


def base_of(chosen: RequestSet, parts: Sequence[Part]) -> RequestSet | None:
    """Make the comparison set; unset attributes equal those of the first set.

    Files, a run or a time range replace all three.
    """
    if not parts:
        return None
    given = {name: [one for other, one in parts if other == name] for name, _ in parts}
    base = chosen
    if given.keys() & {"file", "run", "since", "until"}:
        files = tuple(given.get("file", ())) or chosen.files
        base = replace(chosen, files=files, run=None, since_ns=None, until_ns=None)
    for name, field in (("run", "run"), ("since", "since_ns"), ("until", "until_ns")):
        if name in given:
            base = replace(base, **{field: given[name][-1]})
    if "percentiles" in given:
        base = replace(base, percentiles=given["percentiles"][-1])
    return replace(base, tags=tuple(given["tag"])) if "tag" in given else base


def set_text(chosen: RequestSet) -> str:
    """Describe a request set in words."""
    said = [] if chosen.run is None else [f"run {chosen.run}"]
    for word, at in (("since", chosen.since_ns), ("until", chosen.until_ns)):
        if at is not None:
            said.append(f"{word} {datetime.fromtimestamp(at / 1e9):%Y-%m-%d %H:%M:%S}")
    low, high = chosen.percentiles
    if (low, high) != (0.0, 100.0):
        said.append(next((name for name, two in AROUND.items() if two == (low, high)), ""))
        said[-1] = said[-1] or f"{low:g} to {high:g} %"
    said += [f"{one.key}={one.value}" for one in chosen.tags]
    return ", ".join([*[one.name for one in chosen.files[:2]], *said]) or "all"
