"""The options of `tidscope critical-path`."""

import argparse
import re
from pathlib import Path

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.options import Projection

from tidscope_backend.cli.critical_path_sets import base_part, moment, percentiles, tag
from tidscope_backend.cli.runs_directory import add_runs_dir_option

_CHANGE = re.compile(r"(.+)=(-?\d+(?:\.\d+)?)ms")


def _operation(text: str) -> Operation:
    service, colon, name = text.partition(":")
    if not colon or not service or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: want SERVICE:OPERATION")
    return Operation(service, name.strip())


def _excluded(text: str) -> list[Operation]:
    """What an operation may be meant by: names of operations have colons, too."""
    service, _, name = text.partition(":")
    return [Operation("", text), *([Operation(service, name)] if service and name else [])]


def _change(text: str) -> Projection:
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r}: want SERVICE:OPERATION=20ms")
    return Projection(_operation(found[1]), round(float(found[2]) * 1e6))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add them."""
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
