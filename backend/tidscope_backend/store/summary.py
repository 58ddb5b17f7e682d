"""From a manifest to a line in the list of runs. Pure."""

from tidscope_wire.generated.models import RunManifest, RunSummary


def summary(manifest: RunManifest) -> RunSummary:
    """Keep what a list shows."""
    process = manifest.target.process
    return RunSummary(
        id=manifest.id,
        name=manifest.name,
        tags=manifest.tags,
        group=manifest.group,
        notes=manifest.notes,
        state=manifest.state,
        end=manifest.end,
        end_detail=manifest.end_detail,
        created_unix_us=manifest.created_unix_us,
        started_unix_us=manifest.started_unix_us,
        duration_ns=max(0, manifest.to_ns - manifest.from_ns),
        host_name=manifest.host.name,
        target=manifest.target.id,
        pid=process.pid,
        process=process.name,
        command=process.command,
        policies=[policy.policy for policy in manifest.policies],
        losses=manifest.losses,
        counts=manifest.counts,
        imported=manifest.imported,
    )
