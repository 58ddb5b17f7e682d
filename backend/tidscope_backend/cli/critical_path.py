"""`tidscope critical-path`: what requests waited for, from files of traces or stored ones."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tidscope_traces.anomalies.detector import Anomaly, find_anomalies
from tidscope_traces.summary.analysis import Analysis, describe
from tidscope_traces.summary.difference import DifferenceTree, compare_trees
from tidscope_traces.summary.durations import AROUND, FIFTHS
from tidscope_traces.summary.everywhere import rank_everywhere
from tidscope_traces.summary.heat import heat_map
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries

from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.critical_path_options import add_arguments
from tidscope_backend.cli.runs_directory import chosen_runs_directory
from tidscope_backend.cli.terminal import print_lines
from tidscope_backend.critical_paths.exports import (
    analysis_json,
    difference_json,
    dot_graph,
    everywhere_json,
    folded_stacks,
    operation_text,
)
from tidscope_backend.critical_paths.page import HEAT_COLUMNS, Report, draw_page
from tidscope_backend.critical_paths.text import (
    ANOMALY_HEAD,
    CHAIN_HEAD,
    EVERYWHERE_HEAD,
    FAILURE_HEAD,
    GROWN_HEAD,
    RANKING_HEAD,
    chain_rows,
    everywhere_rows,
    facts,
    failure_rows,
    grown_rows,
    path_text,
    projection_text,
    ranking_rows,
    table,
)
from tidscope_backend.critical_paths.trace_files import (
    FileCounts,
    TraceFileError,
    find_files,
    summarise_files,
)
from tidscope_backend.text import format_seconds

NAME_WIDTH, CHAIN_WIDTH = 44, 72


def _run(options: argparse.Namespace) -> int:
    """Analyse, print and write. Raises CommandError."""
    chosen = Options(
        endpoint=options.endpoint,
        inner=options.inner,
        roots=options.roots,
        tags=tuple(options.tag),
        excluded=frozenset(options.exclude),
        potential=True,
        projection=options.less,
    )
    if options.files:
        summaries, counts = _summarise(options.files, chosen)
    else:
        summaries, counts = _stored(options, chosen)
    if not summaries.traces:
        raise CommandError(_nothing(counts, summaries))
    if options.less and options.less.operation not in summaries.catalogue.operations:
        raise CommandError(f"no trace has {operation_text(options.less.operation)}")
    low, high = options.percentiles
    found = describe(summaries, low, high)
    difference = _difference(options, chosen, found)
    anomalies = _anomalies(summaries)
    _write(options, summaries, found, difference, counts)
    if options.json:
        document = _document(summaries, found, difference, anomalies, counts)
        print_lines(*json.dumps(document, indent=2).split("\n"))
    else:
        lines = [
            *_lines(options, found, difference, counts),
            *_everywhere_lines(summaries, options.top),
            *_anomaly_lines(summaries, anomalies, options.top),
            *(f"wrote {path}" for path in (options.html, options.folded, options.dot) if path),
        ]
        print_lines(*lines)
    return 0


def _summarise(paths: Sequence[Path], chosen: Options) -> tuple[Summaries, FileCounts]:
    try:
        return summarise_files(find_files(paths), chosen, len(os.sched_getaffinity(0)))
    except TraceFileError as error:
        raise CommandError(str(error)) from None


def _stored(options: argparse.Namespace, chosen: Options) -> tuple[Summaries, FileCounts]:
    from tidscope_backend.critical_paths.stored_traces import stored_endpoints, summarise_stored

    runs = chosen_runs_directory(options)
    try:
        if options.endpoint is None:
            known = stored_endpoints(runs)
            if not known:
                raise CommandError(f"name files of traces; none are stored in {runs}")
            raise CommandError("\n".join(["name files, or an --endpoint of those stored:", *known]))
        summaries, counts, omitted = summarise_stored(runs, chosen)
    except (OSError, ValueError) as error:
        raise CommandError(f"the stored traces cannot be read: {error}") from None
    if not summaries.traces:
        raise CommandError(f"no trace of {operation_text(options.endpoint)} is stored in {runs}")
    if omitted:
        print_lines(f"{omitted} more traces are left out: too many spans", file=sys.stderr)
    return summaries, counts


def _nothing(counts: FileCounts, summaries: Summaries) -> str:
    if counts.rejected:
        return f"no span could be read; the first has {counts.reasons[0]}"
    if summaries.left_out:
        return f"none of {summaries.left_out} traces has that endpoint and those tags"
    return "the files have no traces"


def _anomalies(summaries: Summaries) -> list[Anomaly]:
    """Of each endpoint, requests unlike its others."""
    endpoints: dict[int, list[int]] = {}
    for place, trace in enumerate(summaries.traces):
        endpoints.setdefault(trace.operation, []).append(place)
    found = [
        replace(one, place=places[one.place])
        for places in endpoints.values()
        for one in find_anomalies(summaries.select(places))
    ]
    return sorted(found, key=lambda one: (-one.score, one.place))


def _anomaly_lines(summaries: Summaries, anomalies: list[Anomaly], top: int) -> list[str]:
    rows = [
        [
            path_text(one.chain),
            one.kind,
            f"{one.score:.1f}",
            format_seconds(summaries.traces[one.place].duration_ns),
            summaries.traces[one.place].trace_id,
        ]
        for one in anomalies[:top]
    ]
    return ["", *table(ANOMALY_HEAD, rows, CHAIN_WIDTH)] if rows else []


def _everywhere_lines(summaries: Summaries, top: int) -> list[str]:
    """The ranking over all endpoints, if there are several."""
    if len({trace.operation for trace in summaries.traces}) < 2:
        return []
    rows = everywhere_rows(rank_everywhere(summaries), top)
    return ["", *table(EVERYWHERE_HEAD, rows, NAME_WIDTH)]


def _difference(
    options: argparse.Namespace, chosen: Options, found: Analysis
) -> tuple[str, DifferenceTree] | None:
    if not options.base:
        return None
    summaries, _ = _summarise(options.base, chosen)
    if not summaries.traces:
        raise CommandError("the files to compare with have no traces that match")
    base = describe(summaries, *options.percentiles)
    return "the other files against the base", compare_trees(base.tree, found.tree)


def _write(
    options: argparse.Namespace,
    summaries: Summaries,
    found: Analysis,
    difference: tuple[str, DifferenceTree] | None,
    counts: FileCounts,
) -> None:
    """Write the files that were asked for."""
    pages = {}
    if options.folded:
        pages[options.folded] = "\n".join([*folded_stacks(found.tree), ""])
    if options.dot:
        pages[options.dot] = "\n".join([*dot_graph(found.tree), ""])
    if options.html:
        windows = {name: describe(summaries, *bounds) for name, bounds in AROUND.items()}
        if difference is None:
            between = compare_trees(windows["P50"].tree, windows["P95"].tree)
            difference = "P95 against P50", between
        named = {
            f"{name} ({low:g} to {high:g} %)": windows[name] for name, (low, high) in AROUND.items()
        }
        named |= {
            f"the fifth from {low:g} to {high:g} %": describe(summaries, low, high)
            for low, high in FIFTHS
        }
        title = "Critical paths" + (
            f" of {operation_text(options.endpoint)}" if options.endpoint else ""
        )
        heat = heat_map(summaries, columns=HEAT_COLUMNS)
        notes = _notes(options, found, counts)
        pages[options.html] = draw_page(Report(title, found, named, difference, heat, notes))
    for path, text in pages.items():
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None


def _document(
    summaries: Summaries,
    found: Analysis,
    difference: tuple[str, DifferenceTree] | None,
    anomalies: list[Anomaly],
    counts: FileCounts,
) -> dict[str, object]:
    return {
        "files": counts.files,
        "spans": counts.spans,
        "rejected": counts.rejected,
        "reasons": counts.reasons,
        **analysis_json(found),
        "trace_facts": [
            {
                "trace_id": trace.trace_id,
                "duration_ns": trace.duration_ns,
                "spans": trace.spans,
                "depth": trace.depth,
                "concurrency": trace.concurrency,
                "path_contexts": trace.contexts.shape[1],
            }
            for trace in summaries.traces
        ],
        "everywhere": everywhere_json(rank_everywhere(summaries)),
        "difference": None if difference is None else difference_json(difference[1]),
        "anomalies": [
            {
                "trace_id": summaries.traces[one.place].trace_id,
                "kind": one.kind,
                "score": one.score,
                "chain": [{"service": step.service, "operation": step.name} for step in one.chain],
            }
            for one in anomalies
        ],
    }


def _notes(options: argparse.Namespace, found: Analysis, counts: FileCounts) -> list[str]:
    notes = []
    if counts.rejected:
        notes.append(f"{counts.rejected} spans were left out: {counts.reasons[0]}")
    if options.less is not None:
        text = projection_text(found, options.less.operation, options.less.less_ns)
        notes += [text] if text else []
    return notes


def _lines(
    options: argparse.Namespace,
    found: Analysis,
    difference: tuple[str, DifferenceTree] | None,
    counts: FileCounts,
) -> list[str]:
    top = options.top
    lines = [*facts(found), *_notes(options, found, counts), ""]
    lines += table(RANKING_HEAD, ranking_rows(found, top), NAME_WIDTH)
    lines += ["", *table(CHAIN_HEAD, chain_rows(found, top), CHAIN_WIDTH)]
    if found.failures:
        lines += ["", *table(FAILURE_HEAD, failure_rows(found, top), CHAIN_WIDTH)]
    if difference is not None:
        rows = grown_rows(difference[1], top)
        lines += ["", *table(GROWN_HEAD, rows, CHAIN_WIDTH)]
    return lines


COMMAND = Command(
    name="critical-path",
    help="what requests waited for, from traces in files or stored",
    description="Critical paths of requests: which operations made them take their time.",
    add_arguments=add_arguments,
    run=_run,
)
