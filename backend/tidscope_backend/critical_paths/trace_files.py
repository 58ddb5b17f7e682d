"""Traces from files (Jaeger's or OTLP's JSON, optionally gzipped) and from a runs directory."""

import gzip
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tidscope_traces.spans.jaeger import read_jaeger
from tidscope_traces.spans.model import Span, Trace, group_spans
from tidscope_traces.spans.otlp import read_otlp
from tidscope_traces.spans.reading import BadTracesError
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries

from tidscope_backend.store.directory import find_run
from tidscope_backend.store.reader import RunReader
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.queries import SpanQueries, Wanted, window_of
from tidscope_backend.traces.span_store import SpanStore

LARGEST_BYTES = 1 << 30
"""Maximum decompressed bytes of one file."""
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
"""File suffixes read from a folder."""


class TraceFileError(Exception):
    """A file cannot be read as traces; the text names the file and the reason."""


@dataclass(slots=True)
class FileCounts:
    """Counts of files and their content.

    Attributes:
        files: number of files read.
        size_bytes: bytes of the files on disk.
        spans: number of spans read.
        rejected: number of malformed spans.
        reasons: problems of the first malformed spans.
    """

    files: int = 0
    size_bytes: int = 0
    spans: int = 0
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, other: "FileCounts") -> None:
        """Add counts of other files."""
        self.files += other.files
        self.size_bytes += other.size_bytes
        self.spans += other.spans
        self.rejected += other.rejected
        self.reasons = [*self.reasons, *other.reasons][:10]


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return these files, and from folders the files with a suffix in SUFFIXES.

    Raises:
        TraceFileError: no file exists.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            own = sorted(one for one in path.iterdir() if one.name.endswith(SUFFIXES))
            if not own:
                raise TraceFileError(f"{path} has no file that ends in {', '.join(SUFFIXES)}")
            found += own
        elif path.is_file():
            found.append(path)
        else:
            raise TraceFileError(f"there is no file {path}")
    return found


Progress = Callable[[str], None]
"""Callback that receives progress text from time to time."""
PROGRESS_TRACES = 100
"""Number of traces between two progress calls."""


def no_progress(_: str) -> None:
    """Ignore progress."""


def summarise_files(
    files: Sequence[Path],
    options: Options,
    processes: int = 1,
    progress: Progress = no_progress,
) -> tuple[Summaries, FileCounts]:
    """Analyse files, several at once.

    Args:
        files: files, each with complete traces; partial traces of a file are analysed separately.
        options: analysis options.
        processes: number of parallel processes; each holds one file in memory.
        progress: called after each file, and during a single file.

    Raises:
        TraceFileError: a file cannot be read.
    """
    if len(files) == 1:
        return _summarise_file(files[0], options, progress)
    summaries, counts = Summaries(), FileCounts()

    def take(found: Iterable[tuple[Summaries, FileCounts]]) -> None:
        for some, had in found:
            summaries.extend(some)
            counts.add(had)
            progress(f"{counts.files} of {len(files)} files, {len(summaries.traces)} requests")

    work = partial(_summarise_file, options=options)
    if processes < 2:
        take(map(work, files))
    else:
        with ProcessPoolExecutor(min(processes, len(files))) as pool:
            take(pool.map(work, files, chunksize=1))
    return summaries, counts


def _summarise_file(
    path: Path, options: Options, progress: Progress = no_progress
) -> tuple[Summaries, FileCounts]:
    counts = FileCounts(files=1)
    return summarise_with_progress(read_traces(path, counts), options, progress), counts


def summarise_with_progress(
    traces: Iterable[Trace], options: Options, progress: Progress
) -> Summaries:
    """Summarise traces one by one, with progress; each may be freed before the next is read."""
    summaries = Summaries()
    for number, trace in enumerate(traces, 1):
        summaries.add(trace, options)
        if number % PROGRESS_TRACES == 0:
            progress(f"{number} traces")
    return summaries


def read_traces(path: Path, counts: FileCounts) -> Iterator[Trace]:
    """Yield the traces of a file, and add to counts.

    Raises:
        TraceFileError: the file cannot be read.
    """
    try:
        counts.size_bytes += path.stat().st_size
        for spans in _groups(_documents(_read(path)), counts):
            yield from group_spans(spans)
    except (OSError, EOFError, ValueError) as error:
        raise TraceFileError(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        content = (gzip.GzipFile(fileobj=file) if compressed else file).read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        msg = f"it has more than {LARGEST_BYTES >> 20} MiB; divide it"
        raise BadTracesError(msg)
    return content


def _documents(content: bytes) -> list[Any]:
    """Yield the document of a file, or one document per line."""
    try:
        return [json.loads(content)]
    except ValueError as error:
        lines = [line for line in content.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith(b"}"):
            msg = f"it is no JSON: {error}"
            raise BadTracesError(msg) from None
    documents = []
    for number, line in enumerate(lines, 1):
        try:
            documents.append(json.loads(line))
        except ValueError as error:
            msg = f"line {number} is no JSON: {error}"
            raise BadTracesError(msg) from None
    return documents


def _groups(documents: list[Any], counts: FileCounts) -> Iterator[list[Span]]:
    """Yield the spans to be grouped into traces, which may span several OTLP documents."""
    shared: list[Span] = []
    while documents:
        document = documents.pop(0)
        otlp = isinstance(document, dict) and "resourceSpans" in document
        read = read_otlp(document) if otlp else read_jaeger(document)
        del document
        counts.spans += len(read.spans)
        counts.rejected += read.rejected
        counts.reasons = [*counts.reasons, *read.reasons][:10]
        if otlp:
            shared += read.spans
        elif read.spans:
            yield read.spans
    if shared:
        yield shared


MAX_SPANS = 1_000_000
"""Maximum spans in one analysis. Beyond it, traces are sampled by their random IDs."""


def summarise_stored(
    runs: Path, options: Options, within: Wanted, progress: Progress = no_progress
) -> tuple[Summaries, FileCounts, int]:
    """Analyse stored traces.

    Args:
        runs: the runs directory; a backend may be writing there.
        options: analysis options.
        within: time range and processes of the traces.
        progress: progress callback.

    Returns:
        Summaries, counts, and the number of traces beyond the bound.
    """
    wanted = within
    if options.endpoint is not None and not options.inner:
        service, operation = options.endpoint
        wanted = replace(within, service=service, operation=operation)
    chosen = _queries(runs).choose(wanted, MAX_SPANS)
    summaries = summarise_with_progress(group_spans(chosen.spans), options, progress)
    return summaries, FileCounts(spans=len(chosen.spans)), chosen.omitted


def of_run(runs: Path, called: str, since_ns: int | None, until_ns: int | None) -> Wanted:
    """Return the traces of a run within a time range.

    Raises:
        RunNotFoundError: no run or several runs match.
        OSError: the run cannot be read.
        ValueError: the run is damaged.
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
    """Return the endpoints of stored traces, in the command line's form, with numbers of traces."""
    return [
        f"{one.service}:{one.operation} ({one.traces})"
        for one in _queries(runs).endpoints(None, None)
    ]


def _queries(runs: Path) -> SpanQueries:
    store = SpanStore(lambda: runs, runs, SpanRetention(None, None), time.time)
    return SpanQueries(store.read)
