"""Stored traces of a runs directory, analysed as files are. Blocks."""

import time
from dataclasses import replace
from pathlib import Path

from tidscope_traces.spans.model import group_spans
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries

from tidscope_backend.critical_paths.trace_files import (
    FileCounts,
    Progress,
    no_progress,
    summarise_with_progress,
)
from tidscope_backend.store.lookup import find_run
from tidscope_backend.store.reader import RunReader
from tidscope_backend.traces.queries import SpanQueries, Wanted
from tidscope_backend.traces.retention import SpanRetention
from tidscope_backend.traces.run_windows import window_of
from tidscope_backend.traces.span_store import SpanStore

MAX_SPANS = 1_000_000
"""In one analysis; of more traces as many as have that many, by the order of their random ids."""


def summarise_stored(
    runs: Path, options: Options, within: Wanted, progress: Progress = no_progress
) -> tuple[Summaries, FileCounts, int]:
    """Analyse stored traces of an endpoint.

    Args:
        runs: the runs directory; a backend may be writing there.
        options: with an endpoint.
        within: when they began, and of which processes they are.
        progress: called now and then.

    Returns:
        The summaries, what was read, and how many traces there are beyond the bound.
    """
    wanted = within
    if options.endpoint is not None and not options.inner:
        service, operation = options.endpoint
        wanted = replace(within, service=service, operation=operation)
    chosen = _queries(runs).choose(wanted, MAX_SPANS)
    summaries = summarise_with_progress(group_spans(chosen.spans), options, progress)
    return summaries, FileCounts(spans=len(chosen.spans)), chosen.omitted


def of_run(runs: Path, called: str, since_ns: int | None, until_ns: int | None) -> Wanted:
    """The traces of a run within a time.

    Raises:
        RunNotFoundError: there is none, or there are several.
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    reader = RunReader(find_run(runs, called))
    group = reader.manifest.target.group is not None
    found = window_of(reader.manifest, reader.threads() if group else None)
    return Wanted(
        since_ns=max(found.since_ns, since_ns or 0),
        until_ns=found.until_ns if until_ns is None else min(found.until_ns, until_ns),
        processes=found.processes,
    )


def stored_endpoints(runs: Path) -> list[str]:
    """Endpoints of the stored traces, as the command line names them, and how many each has."""
    return [
        f"{one.service}:{one.operation} ({one.traces})"
        for one in _queries(runs).endpoints(None, None)
    ]


def _queries(runs: Path) -> SpanQueries:
    store = SpanStore(lambda: runs, runs, SpanRetention(None, None), time.time)
    return SpanQueries(store.read)
