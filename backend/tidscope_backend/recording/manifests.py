"""The manifest of a run that begins. Loads no library of tables."""

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import Host, RunManifest, Target

from tidscope_backend import VERSION
from tidscope_backend.recording.stats import RecordingStats


def new_manifest(run_id: str, name: str, unix_us: int, host: Host, target: Target) -> RunManifest:
    """Return the manifest of a run without frames.

    Args:
        run_id: ID of the run.
        name: its name.
        unix_us: time of its creation.
        host: host of the target.
        target: the target.
    """
    empty = RecordingStats()
    return RunManifest(
        format=1,
        id=run_id,
        name=name,
        tags=[],
        group=None,
        notes="",
        state="recording",
        end=None,
        end_detail="",
        created_unix_us=unix_us,
        started_unix_us=unix_us,
        from_ns=0,
        to_ns=0,
        until_ns=None,
        tidscope=VERSION,
        host=host,
        target=target,
        fields=CATALOGUE.fields,
        policies=[],
        marks=[],
        losses=empty.losses,
        counts=empty.counts,
        outcome=None,
        imported=False,
        stacks=False,
    )
