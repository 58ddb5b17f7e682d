"""Differences between the setups of runs, most important first."""

from collections.abc import Callable, Sequence

from tidscope_wire.generated.models import RunManifest, RunPolicy, SetupDifference

from tidscope_backend.hidden_arguments import COMMAND_ASPECT, HIDDEN
from tidscope_backend.store.folder import missing_text
from tidscope_backend.text import plural


def setup_differences(manifests: Sequence[RunManifest]) -> list[SetupDifference]:
    """Return differing properties as text, with one value per run."""
    found = []
    for what, tell in ASPECTS:
        values = [tell(manifest) for manifest in manifests]
        if len(set(values)) > 1:
            found.append(SetupDifference(what=what, values=values))
    return found


def _policy(manifest: RunManifest) -> str:
    return "; then ".join(_in_words(policy) for policy in manifest.policies) or "none"


def _in_words(policy: RunPolicy) -> str:
    shadow = " in shadow mode" if policy.shadow else ""
    return (
        f"{policy.policy}{shadow}, {policy.lower} to {policy.upper} "
        f"by {policy.knob} on {policy.signal}"
    )


def _command(manifest: RunManifest) -> str:
    return manifest.target.process.command or HIDDEN


def _cpu(manifest: RunManifest) -> str:
    return f"{manifest.host.cpus} x {manifest.host.cpu_model}"


def _runtime(manifest: RunManifest) -> str:
    process = manifest.target.process
    return process.runtime_version or process.runtime


def _gomaxprocs(manifest: RunManifest) -> str:
    size = manifest.target.gomaxprocs
    return "unknown" if size is None else str(size)


def _source(manifest: RunManifest) -> str:
    source = manifest.target.source
    return source.layout or source.kind


def _absent(manifest: RunManifest) -> str:
    return ", ".join(sorted(field.field for field in manifest.target.absent)) or "none"


def _energy(manifest: RunManifest) -> str:
    summed = [domain.name for domain in manifest.target.energy.domains if domain.summed]
    return ", ".join(summed) or "none"


def _losses(manifest: RunManifest) -> str:
    losses = manifest.losses
    coarser = [
        plural(count, what)
        for count, what in (
            (losses.coalesced, "coalesced frame"),
            (losses.deadlines_missed, "missed deadline"),
            (losses.clock_jumps, "clock jump"),
        )
        if count
    ]
    return ", ".join([*filter(None, [missing_text(losses)]), *coarser]) or "none"


def _end(manifest: RunManifest) -> str:
    return manifest.end or manifest.state


ASPECTS: Sequence[tuple[str, Callable[[RunManifest], str]]] = (
    ("policy", _policy),
    (COMMAND_ASPECT, _command),
    ("executable", lambda manifest: manifest.target.process.executable or "unknown"),
    ("runtime", _runtime),
    ("GOMAXPROCS at attach", _gomaxprocs),
    ("kernel", lambda manifest: manifest.host.kernel),
    ("host", lambda manifest: manifest.host.name),
    ("CPU", _cpu),
    ("memory", lambda manifest: f"{manifest.host.memory_bytes / 2**30:.1f} GiB"),
    ("user", lambda manifest: manifest.target.process.user),
    ("source of samples", _source),
    ("exit totals", lambda manifest: "received" if manifest.target.source.exits else "none"),
    ("source of network numbers", lambda manifest: manifest.target.source.network),
    ("source of energy", _energy),
    ("fields that are missing", _absent),
    ("samples a second", lambda manifest: f"{manifest.target.rate_hz:g}"),
    ("tidscope", lambda manifest: manifest.tidscope),
    ("losses", _losses),
    ("end", _end),
)
"""Properties by importance: those of the program's work, of the machine, and of the measurement."""
