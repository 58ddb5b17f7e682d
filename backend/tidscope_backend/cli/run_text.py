"""Runs as text, for a terminal."""

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.store.folder import RunFolder

SHOWN_ROLES = 5


def progress(manifest: RunManifest) -> str:
    """How far a run is, in one line."""
    counts = manifest.counts
    seconds = (manifest.to_ns - manifest.from_ns) / 1e9
    return (
        f"recording {manifest.id}: {seconds:.1f} s, {counts.frames} frames, "
        f"{counts.threads} threads, {in_bytes(counts.bytes)}"
    )


def summary(manifest: RunManifest, folder: RunFolder | None) -> str:
    """What was recorded, in some lines.

    Args:
        manifest: of the run.
        folder: where it lies, if it can be read here.
    """
    counts = manifest.counts
    seconds = (manifest.to_ns - manifest.from_ns) / 1e9
    named = f" ({manifest.name})" if manifest.name else ""
    lines = [
        f"recorded {manifest.id}{named}: {seconds:.2f} s, {counts.threads} threads, "
        f"{counts.frames} frames, {in_bytes(counts.bytes)}"
    ]
    outcome = manifest.outcome
    if outcome is not None:
        how = outcome.signal or f"exit code {outcome.exit_code}"
        lines.append(
            f"  ended      {how}, after {outcome.elapsed_us / 1e6:.2f} s; "
            f"user {outcome.user_cpu_us / 1e6:.2f} s, system {outcome.system_cpu_us / 1e6:.2f} s, "
            f"at most {in_bytes(outcome.max_rss_bytes)}"
        )
    if manifest.end not in ("stopped", "duration", "flight-recorder", "target-ended"):
        lines.append(f"  cut short  {manifest.end_detail or manifest.end or manifest.state}")
    if folder is not None:
        lines += _threads(folder)
        lines.append(f"  lies in    {folder.path}")
    lines.append(
        f"  look       tidscope runs show {manifest.id}; in a browser: `tidscope up`, Runs"
    )
    return "\n".join(lines)


def _threads(folder: RunFolder) -> list[str]:
    """What the process did, and its busiest roles."""
    from tidscope_backend.comparison.totals import totals_by_role, whole
    from tidscope_backend.store.reader import RunReader

    by_role = totals_by_role(RunReader(folder.path).threads())
    fields = whole(by_role).fields
    told = [
        f"{words} {in_seconds(fields[name])}"
        for name, words in (
            ("cpu_run_ns", "CPU"),
            ("cpu_delay_ns", "waited for a CPU"),
            ("blkio_delay_ns", "for block I/O"),
        )
        if name in fields
    ]
    lines = [f"  threads    {', '.join(told)}"] if told else []
    busiest = sorted(by_role.items(), key=lambda one: -one[1].fields.get("cpu_run_ns", 0))
    for place, (role, totals) in enumerate(busiest[:SHOWN_ROLES]):
        cpu = totals.fields.get("cpu_run_ns")
        lives = "1 thread" if totals.lives == 1 else f"{totals.lives} threads"
        used = "CPU unknown" if cpu is None else in_seconds(cpu)
        lines.append(f"  {'' if place else 'busiest':10} {used:>10}  {role} ({lives})")
    return lines


def in_seconds(nanoseconds: int) -> str:
    """A time, so that short ones can be told apart."""
    seconds = nanoseconds / 1e9
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms"


def in_bytes(count: int) -> str:
    """A size in binary units."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
