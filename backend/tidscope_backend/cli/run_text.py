"""Runs as text, for a terminal."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tidscope_wire.generated.models import RingTrack, RunManifest, RunOutcome

from tidscope_backend.cli.run_report import RunReport, fact_lines, state_lines
from tidscope_backend.store.folder import (
    children_cpu_us,
    children_text,
    coarser_text,
    missing_text,
)
from tidscope_backend.text import format_bytes, format_seconds, plural

SUMMARY_ROLES = 5
SUMMARY_LOCKS = 3
MIN_SHARE = 0.001
MIN_UNSEEN_NS = 50_000_000
"""Minimum unseen CPU time worth reporting: clock ticks are coarse, and sampling starts late."""
MIN_UNSEEN_SHARE = 0.05
SHOWN_THREADS = 20
LABEL_WIDTH = 11
CUT_SHORT = ("disk-full", "write-failed", "backend-lost", "collector-lost")
Column = tuple[str, str, Callable[[int], str]]
COLUMNS: tuple[Column, ...] = (
    ("CPU", "cpu_run_ns", format_seconds),
    ("RUN-QUEUE", "cpu_delay_ns", format_seconds),
    ("BLOCK I/O", "blkio_delay_ns", format_seconds),
    ("VOL.SW", "voluntary_switches", str),
    ("INVOL.SW", "involuntary_switches", str),
    ("DISK READ", "disk_read_bytes", format_bytes),
    ("WRITTEN", "disk_write_bytes", format_bytes),
    ("NET IN", "net_read_bytes", format_bytes),
    ("NET OUT", "net_write_bytes", format_bytes),
)
"""Heading, field and format of each number in the tables of roles and threads."""


def progress(manifest: RunManifest) -> str:
    """Describe the progress of a recording in one line."""
    counts = manifest.counts
    return (
        f"recording {manifest.id}: {_seconds(manifest):.1f} s, {_frames(manifest)}, "
        f"{plural(counts.threads, 'thread')}, {format_bytes(counts.bytes)}"
        + (f" ({format_bytes(counts.open_bytes)} not sealed yet)" if counts.open_bytes else "")
    )


def list_line(manifest: RunManifest, disk_bytes: int) -> str:
    """Format a run as a line of the list of runs."""
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(manifest.started_unix_us / 1e6))
    outcome = manifest.outcome
    notes = [manifest.name, *(f"#{tag}" for tag in manifest.tags)]
    if manifest.state != "complete":
        missing = missing_text(manifest.losses)
        notes.insert(0, f"[{manifest.state}: {missing}]" if missing else f"[{manifest.state}]")
    if outcome is not None and failed(outcome):
        notes.append(f"[{exit_text(outcome)}]")
    return (
        f"{manifest.id}  {started}  {_seconds(manifest):9.1f} s  "
        f"{plural(manifest.counts.threads, 'thread'):>13}  {format_bytes(disk_bytes):>10}  "
        + " ".join(notes)
    )


def kept_line(track: RingTrack) -> str:
    """Format a target of the ring as a line of their list."""
    first, last = (
        time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_us / 1e6))
        for unix_us in (track.from_unix_us, track.to_unix_us)
    )
    process, group = track.target.process, track.target.group
    name = process.name if group is None else group.name
    return (
        f"{track.id}  {first} to {last}  {format_bytes(track.bytes):>10}  {process.pid:>8}  "
        f"{name}" + ("" if track.target.state == "attached" else f" [{track.target.state}]")
    )


def failed(outcome: RunOutcome) -> bool:
    """Return True if a command had a non-zero exit code or was killed by a signal."""
    return outcome.signal is not None or outcome.exit_code != 0


def exit_text(outcome: RunOutcome) -> str:
    """Describe a command's exit: "exit code 3", "killed by SIGKILL"."""
    return f"killed by {outcome.signal}" if outcome.signal else f"exit code {outcome.exit_code}"


def summary(manifest: RunManifest, report: RunReport | None, address: str) -> list[str]:
    """Return the summary of a recorded run, line by line.

    Args:
        manifest: manifest of the run.
        report: report of the run, if its files are readable here.
        address: host and port of the tidscope that otherwise has the files.
    """
    lines = [*_missing(manifest), *_unseen(manifest, report)]
    lines += [f"recorded {_headline(manifest, report)}", *_facts(manifest)]
    if report is not None:
        lines += [_labelled("total", text) for text in _totals(report.totals)[:1]]
        for number, role in enumerate(report.roles[:SUMMARY_ROLES]):
            time_ns = role.fields.get("cpu_run_ns")
            used = "n/a" if time_ns is None else format_seconds(time_ns)
            text = f"{used:>10}  {role.role} ({plural(role.threads, 'thread')})"
            lines.append(_labelled("" if number else "busiest", text))
        lines += [*_time(report), *_locks(report)]
    here = f"tidscope runs show {manifest.id}; or `tidscope up`, Runs"
    there = f"http://{address}/runs/{manifest.id}"
    lines.append(_labelled("show", there if report is None else here))
    return lines


def details(report: RunReport, folder: str, threads: int | None = SHOWN_THREADS) -> list[str]:
    """Return the complete text about a run, line by line.

    Args:
        report: report of the run.
        folder: folder of the run.
        threads: number of threads to list; None for all.
    """
    manifest = report.manifest
    host, target = manifest.host, manifest.target
    lines = [*_missing(manifest), *_unseen(manifest, report)]
    lines += [_headline(manifest, report), *_facts(manifest)]
    lines.append(
        _labelled(
            "process",
            f"{target.process.name} ({target.process.pid}) on {host.name}, "
            f"Linux {host.kernel}, {plural(host.cpus, 'CPU')}",
        )
    )
    lines += [
        _labelled("" if number else "total", text)
        for number, text in enumerate(_totals(report.totals))
    ]
    lines += _locks(report)
    if manifest.notes:
        lines += [
            _labelled("" if number else "notes", text)
            for number, text in enumerate(manifest.notes.split("\n"))
        ]
    lines.append(_labelled("files", folder))
    lines += [*state_lines(report.totals, report.roles), *fact_lines(report.facts)]
    columns = [column for column in COLUMNS if column[1] in report.totals]
    shown = report.threads if threads is None else report.threads[:threads]
    roles = [(str(role.threads), *_cells(role.fields, columns), role.role) for role in report.roles]
    rows = [(str(one.tid), *_cells(one.fields, columns), one.name) for one in shown]
    headings = [heading for heading, _, _ in columns]
    lines += ["", *_table(("THREADS", *headings, "ROLE"), roles)]
    lines += ["", *_table(("TID", *headings, "THREAD"), rows)]
    hidden = len(report.threads) - len(shown)
    if hidden:
        lines.append(f"{plural(hidden, 'more thread')} with less CPU time; --all lists them")
    return lines


def _missing(manifest: RunManifest) -> list[str]:
    """Return lines about missing data; empty if the run is complete."""
    missing = missing_text(manifest.losses)
    # Reason and amounts: a process's last frames may be missing without a count.
    if manifest.state == "incomplete" and manifest.end_detail and missing in manifest.end_detail:
        lines = [f"incomplete: {manifest.end_detail}"]
    else:
        lines = [f"{manifest.state}: {missing} missing"] if missing else []
    return [*lines, *filter(None, [children_text(children_cpu_us(manifest))])]


def _unseen(manifest: RunManifest, report: RunReport | None) -> list[str]:
    """Return CPU time that the kernel counted for the command and no thread accounts for."""
    outcome, source = manifest.outcome, manifest.target.source
    if outcome is None or outcome.children_cpu_us is None or report is None:
        return []
    own_us = outcome.user_cpu_us + outcome.system_cpu_us - outcome.children_cpu_us
    own_ns, shown_ns = own_us * 1000, report.totals.get("cpu_run_ns", 0)
    if own_ns - shown_ns < max(MIN_UNSEEN_NS, MIN_UNSEEN_SHARE * own_ns):
        return []
    text = f"The command used {format_seconds(own_ns)} of CPU, its threads show "
    text += f"{format_seconds(shown_ns)}."
    return [text if source.exits else f"{text} {source.exits_reason}."]


def _headline(manifest: RunManifest, report: RunReport | None) -> str:
    named = f" ({manifest.name})" if manifest.name else ""
    size = "" if report is None else f", {format_bytes(report.disk_bytes)} on disk"
    return (
        f"{manifest.id}{named}: {_seconds(manifest):.2f} s, "
        f"{plural(manifest.counts.threads, 'thread')}, {_frames(manifest)}{size}"
    )


def _facts(manifest: RunManifest) -> Iterator[str]:
    outcome = manifest.outcome
    if outcome is not None:
        if outcome.command is not None:
            yield _labelled("command", " ".join(outcome.command))
        yield _labelled(
            "exit",
            f"{exit_text(outcome)} after {outcome.elapsed_us / 1e6:.2f} s; "
            f"user {outcome.user_cpu_us / 1e6:.2f} s, system {outcome.system_cpu_us / 1e6:.2f} s, "
            f"peak memory {format_bytes(outcome.max_rss_bytes)}",
        )
    if manifest.results:
        named = (f"{one.name} {one.value:g}" for one in manifest.results)
        yield _labelled("results", ", ".join(named))
    if coarser := coarser_text(manifest.losses):
        yield _labelled("coarser", coarser)
    if manifest.state == "recording":
        yield _labelled("state", "recording")
    elif manifest.end in CUT_SHORT or manifest.end is None:
        yield _labelled("cut short", manifest.end_detail or manifest.end or manifest.state)


def _totals(fields: Mapping[str, int]) -> list[str]:
    """Return time, switches, disk and network; n/a where a field has no value."""

    def value(name: str, text: Callable[[int], str]) -> str:
        return text(fields[name]) if name in fields else "n/a"

    return [
        f"CPU {value('cpu_run_ns', format_seconds)}, "
        f"run-queue delay {value('cpu_delay_ns', format_seconds)}, "
        f"block I/O delay {value('blkio_delay_ns', format_seconds)}",
        f"context switches {value('voluntary_switches', str)} voluntary, "
        f"{value('involuntary_switches', str)} involuntary",
        f"disk read {value('disk_read_bytes', format_bytes)}, "
        f"written {value('disk_write_bytes', format_bytes)}",
        f"network received {value('net_read_bytes', format_bytes)}, "
        f"sent {value('net_write_bytes', format_bytes)}",
    ]


def _time(report: RunReport) -> Iterator[str]:
    """Format the threads' states as shares of their lifetimes; empty without a ledger."""
    from tidscope_backend.state_groups import shares_of_groups

    shares = shares_of_groups(report.totals)
    shown = [
        f"{group.label.lower().replace('cpu', 'CPU')} {100 * share:.{1 if share < 0.1 else 0}f} %"
        for group, share in shares.items()
        if share >= MIN_SHARE
    ]
    if shown:
        yield _labelled("time", ", ".join(shown))


def _locks(report: RunReport) -> Iterator[str]:
    """List locks by wait time, without idle waits, followed by other system calls."""
    waited = [lock for lock in report.locks if lock.wait_ns and lock.kind != "park"]
    for label, in_calls in (("locks", False), ("calls", True)):
        shown = [lock for lock in waited if (lock.kind == "call") == in_calls]
        for number, lock in enumerate(shown[:SUMMARY_LOCKS]):
            facts = f"{plural(lock.waits, 'wait')}, {plural(lock.waiters, 'thread')}"
            text = f"{format_seconds(lock.wait_ns):>10}  {lock.name or 'unknown'} ({facts})"
            yield _labelled("" if number else label, text)


def _cells(fields: Mapping[str, int], columns: Sequence[Column]) -> list[str]:
    return [text(fields[name]) if name in fields else "n/a" for _, name, text in columns]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the numbers aligned right, the last column left."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join([*cells[:-1], row[-1]])


def _labelled(label: str, text: str) -> str:
    return f"  {label:{LABEL_WIDTH}}{text}"


def _frames(manifest: RunManifest) -> str:
    return plural(manifest.counts.frames, "frame")


def _seconds(manifest: RunManifest) -> float:
    return (manifest.to_ns - manifest.from_ns) / 1e9
