"""`tidscope critical-path`: critical paths of requests, from trace files or stored traces."""

import argparse
import json
import os
import sys
from dataclasses import asdict, replace

from tidscope_traces.anomalies.detector import MIN_TRACES, Anomaly, find_anomalies
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_traces.summary.analysis import Analysis, describe
from tidscope_traces.summary.durations import AROUND, FIFTHS, window
from tidscope_traces.summary.heat import heat_map
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.ranking import rank_everywhere
from tidscope_traces.summary.shapes import shapes_of
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.tree import DifferenceTree, compare_trees
from tidscope_traces.summary.values import by_value

from tidscope_backend.cli.command import Command, CommandError, ProgressLine, print_lines
from tidscope_backend.cli.critical_path_options import RequestSet, add_arguments, base_of, set_text
from tidscope_backend.cli.server_options import chosen_runs_directory
from tidscope_backend.critical_paths.exports import (
    ANOMALY_HEAD,
    CHAIN_HEAD,
    EVERYWHERE_HEAD,
    FAILURE_HEAD,
    GROWN_HEAD,
    NAME_WIDTH,
    RANKING_HEAD,
    SHAPE_HEAD,
    analysis_json,
    chain_rows,
    difference_json,
    dot_graph,
    everywhere_json,
    everywhere_rows,
    facts,
    failure_rows,
    folded_stacks,
    grown_rows,
    operation_text,
    path_text,
    projection_text,
    ranking_rows,
    shape_rows,
    table,
)
from tidscope_backend.critical_paths.page import HEAT_COLUMNS, Report, draw_page
from tidscope_backend.critical_paths.reports import (
    daily_json,
    daily_lines,
    daily_reports,
    values_json,
    values_lines,
)
from tidscope_backend.critical_paths.trace_files import (
    FileCounts,
    TraceFileError,
    find_files,
    summarise_files,
)
from tidscope_backend.store.directory import RunNotFoundError
from tidscope_backend.text import format_seconds

CHAIN_WIDTH = 72
TRACE_FACTS = ("trace_id", "duration_ns", "spans", "depth", "concurrency")


def _run(options: argparse.Namespace) -> int:
    """Analyse, print and write. Raises CommandError."""
    chosen = Options(
        endpoint=options.endpoint,
        inner=options.inner,
        roots=options.roots,
        excluded=frozenset(options.exclude),
        potential=True,
        calls=True,
        projection=options.less,
        attributes_of=None if options.by is None else options.by[0],
    )
    line = ProgressLine(shown=sys.stderr.isatty() and not options.json)
    wanted = RequestSet(
        tuple(options.files),
        *(options.run, options.since, options.until, options.percentiles, tuple(options.tag)),
    )
    summaries, counts = _summarise(options, wanted, chosen, line)
    if not summaries.traces:
        raise CommandError(_nothing(counts, summaries))
    if options.less and options.less.operation not in summaries.catalogue.operations:
        raise CommandError(f"no trace has {operation_text(options.less.operation)}")
    if options.daily is not None:
        line.clear()
        _print_daily(options, summaries)
        return 0
    found = describe(summaries, *wanted.percentiles)
    base = base_of(wanted, options.base)
    earlier, difference = None, None
    if base is not None:
        earlier = _base(options, chosen, (wanted, base), summaries, line)
        named = f"{set_text(wanted)} against {set_text(base)}"
        difference = named, compare_trees(describe(earlier).tree, found.tree)
    anomalies = _anomalies(summaries, wanted.percentiles, earlier, line)
    line.clear()
    _write(options, summaries, found, difference, counts)
    values = None
    if options.by is not None:
        chosen_spans = summaries.select(window(summaries.traces, *wanted.percentiles))
        values = by_value(chosen_spans, options.by[1])
    if options.json:
        document = _document(summaries, found, difference, anomalies, counts)
        document["by"] = None if values is None else values_json(values, options.by[0])
        print_lines(*json.dumps(document, indent=2).split("\n"))
    else:
        lines = [
            *_lines(options, found, difference, counts),
            *([] if values is None else ["", *values_lines(values, options.by[0])]),
            *_everywhere_lines(summaries, options.top),
            *_anomaly_lines(summaries, anomalies, options.top),
            *_too_few(earlier),
            *(f"wrote {path}" for path in (options.html, options.folded, options.dot) if path),
        ]
        print_lines(*lines)
    return 0


def _print_daily(options: argparse.Namespace, summaries: Summaries) -> None:
    reports = daily_reports(summaries, options.daily)
    if options.json:
        print_lines(*json.dumps({"daily": daily_json(reports)}, indent=2).split("\n"))
    else:
        print_lines(*daily_lines(reports, options.top))


def _summarise(
    options: argparse.Namespace, wanted: RequestSet, chosen: Options, line: ProgressLine
) -> tuple[Summaries, FileCounts]:
    """Summarise the requests of a set, before percentiles apply. Raises CommandError."""
    chosen = replace(chosen, tags=wanted.tags)
    if not wanted.files:
        return _stored(options, wanted, chosen, line)
    if wanted.run is not None:
        raise CommandError("runs have stored traces: name a run or files, not both")
    try:
        processes = len(os.sched_getaffinity(0))
        summaries, counts = summarise_files(find_files(wanted.files), chosen, processes, line.show)
    except TraceFileError as error:
        raise CommandError(str(error)) from None
    since = 0 if wanted.since_ns is None else wanted.since_ns
    until = LATEST_NS if wanted.until_ns is None else wanted.until_ns
    places = [at for at, one in enumerate(summaries.traces) if since <= one.start_ns < until]
    return replace(summaries, traces=summaries.select(places).traces), counts


def _stored(
    options: argparse.Namespace, wanted: RequestSet, chosen: Options, line: ProgressLine
) -> tuple[Summaries, FileCounts]:
    from tidscope_backend.critical_paths.trace_files import (
        of_run,
        stored_endpoints,
        summarise_stored,
    )
    from tidscope_backend.traces.queries import Wanted

    runs = chosen_runs_directory(options)
    try:
        if options.endpoint is None and options.daily is None:
            known = stored_endpoints(runs)
            if not known:
                raise CommandError(f"name files of traces; none are stored in {runs}")
            raise CommandError("\n".join(["name files, or an --endpoint of those stored:", *known]))
        within = Wanted(since_ns=wanted.since_ns, until_ns=wanted.until_ns)
        if wanted.run is not None:
            within = of_run(runs, wanted.run, wanted.since_ns, wanted.until_ns)
        summaries, counts, omitted = summarise_stored(runs, chosen, within, line.show)
    except RunNotFoundError as error:
        raise CommandError(str(error)) from None
    except (OSError, ValueError) as error:
        raise CommandError(f"the stored traces cannot be read: {error}") from None
    if not summaries.traces:
        which = "" if wanted == RequestSet() else f" ({set_text(wanted)})"
        of = f" of {operation_text(options.endpoint)}" if options.endpoint else ""
        raise CommandError(f"no trace{of} is stored in {runs}{which}")
    if omitted:
        print_lines(f"{omitted} more traces are left out: too many spans", file=sys.stderr)
    return summaries, counts


def _nothing(counts: FileCounts, summaries: Summaries) -> str:
    if counts.rejected:
        return f"no span could be read; the first has {counts.reasons[0]}"
    if summaries.left_out:
        return f"none of {summaries.left_out} traces has that endpoint and those tags"
    return "the files have no traces of that time" if counts.spans else "the files have no traces"


def _anomalies(
    summaries: Summaries,
    percentiles: tuple[float, float],
    earlier: Summaries | None,
    line: ProgressLine,
) -> list[Anomaly]:
    """Find requests of each endpoint that differ from other or earlier requests.

    Args:
        summaries: all requests.
        percentiles: percentiles of duration of the requests that are compared with earlier ones.
        earlier: reference requests with the same catalogue; None for all other requests.
        line: shows progress.
    """

    def show(done: int, total: int) -> None:
        line.show(f"{done} of {total} requests compared")

    judged = list(range(len(summaries.traces)))
    if earlier is not None:
        judged = window(summaries.traces, *percentiles)
    reference = None if earlier is None else earlier.by_endpoint()
    found = []
    for operation, places in summaries.select(judged).by_endpoint().items():
        known = None
        if earlier is not None and reference is not None:
            known = earlier.select(reference.get(operation, ()))
        own = [judged[place] for place in places]
        found += [
            replace(one, place=own[one.place])
            for one in find_anomalies(summaries.select(own), known, show)
        ]
    return sorted(found, key=lambda one: (-one.score, one.place))


def _too_few(earlier: Summaries | None) -> list[str]:
    """Return a warning if there are too few reference requests."""
    if earlier is None or any(
        len(places) >= MIN_TRACES for places in earlier.by_endpoint().values()
    ):
        return []
    return ["", f"anomalies are not known: the reference takes {MIN_TRACES} requests"]


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
    """Return the ranking over all endpoints, if there are several, and the requests' shapes."""
    shapes = ["", *table(SHAPE_HEAD, shape_rows(shapes_of(summaries)), NAME_WIDTH)]
    if len({trace.operation for trace in summaries.traces}) < 2:
        return shapes
    rows = everywhere_rows(rank_everywhere(summaries), top)
    return ["", *table(EVERYWHERE_HEAD, rows, NAME_WIDTH), *shapes]


def _base(
    options: argparse.Namespace,
    chosen: Options,
    sets: tuple[RequestSet, RequestSet],
    summaries: Summaries,
    line: ProgressLine,
) -> Summaries:
    """Return requests to compare with, with the catalogue of `summaries`. Raises CommandError.

    Args:
        options: options of the command.
        chosen: analysis options.
        sets: requests to analyse, and requests to compare with.
        summaries: summaries of the analysed requests, of all percentiles.
        line: shows progress.
    """
    wanted, base = sets
    if replace(base, percentiles=wanted.percentiles) != wanted:
        # Both summaries share the catalogue, so numbers are equal.
        known = Summaries(summaries.catalogue)
        known.extend(_summarise(options, base, chosen, line)[0])
        summaries = known
    if not summaries.traces:
        raise CommandError(f"there are no requests to compare with ({set_text(base)})")
    return summaries.select(window(summaries.traces, *base.percentiles))


def _write(
    options: argparse.Namespace,
    summaries: Summaries,
    found: Analysis,
    difference: tuple[str, DifferenceTree] | None,
    counts: FileCounts,
) -> None:
    """Write the requested files."""
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
                **{name: getattr(trace, name) for name in TRACE_FACTS},
                "path_contexts": trace.contexts.shape[1],
            }
            for trace in summaries.traces
        ],
        "everywhere": everywhere_json(rank_everywhere(summaries)),
        "shapes": [asdict(one) for one in shapes_of(summaries)],
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
        lines += ["", f"{difference[0]}:", *table(GROWN_HEAD, rows, CHAIN_WIDTH)]
    return lines


COMMAND = Command(
    name="critical-path",
    help="what requests waited for, from traces in files or stored",
    description="Critical paths of requests: which operations made them take their time.",
    add_arguments=add_arguments,
    run=_run,
)
