"""When a run ends although no frame says so. Pure."""

from dataclasses import dataclass

from tidscope_wire.generated.models import Host, Target

from tidscope_backend.recording.recording import Ending, Recording


@dataclass(frozen=True)
class RecordingTimeouts:
    """How long is waited for what, seconds.

    Attributes:
        tick: between two looks.
        manifest: between two manifests of a run.
        resume: for the target of a run that an earlier backend began.
        last_frame: for the last frame of a target that has ended.
        overdue: for frames behind the time at which a run is to end.
    """

    tick: float = 1.0
    manifest: float = 10.0
    resume: float = 30.0
    last_frame: float = 5.0
    overdue: float = 30.0


def due(
    recording: Recording,
    now_s: float,
    target: Target | None,
    host: Host | None,
    patience: RecordingTimeouts,
) -> Ending | None:
    """Say how a run ends now, if it does.

    Args:
        recording: of the run; `heard_s` and `gone_s` are of the same clock as `now_s`.
        now_s: monotonic, seconds.
        target: what the site knows of its target.
        host: and of the target's host.
        patience: how long is waited.
    """
    silent_s = now_s - recording.heard_s
    connected = host is not None and host.connected
    if recording.waiting:
        if silent_s > patience.resume or (connected and target is None):
            return not_resumed(recording)
        return None
    if recording.gone_s is not None:
        since_s = max(recording.gone_s, recording.heard_s)
        # Of another collector no last frame can come.
        other = host is not None and host.collector.pid != recording.collector_pid
        return _gone(target) if other or now_s - since_s > patience.last_frame else None
    if _is_overdue(recording, silent_s, patience):
        return at_request(recording, connected, Ending("duration", "complete", "Its time is over."))
    return None


def not_resumed(recording: Recording) -> Ending:
    """The target of a run that an earlier backend began did not come back."""
    last = recording.stats.last
    seen = "nothing was recorded" if last is None else "what came after the last instant is missing"
    return Ending(
        "backend-lost",
        "interrupted",
        f"The backend ended while it recorded, and the target did not come back: {seen}.",
    )


def at_request(recording: Recording, connected: bool, wanted: Ending) -> Ending:
    """How a run ends that somebody ends, or its time."""
    if recording.waiting:
        return not_resumed(recording)
    if not connected:
        return Ending(
            "collector-lost",
            "interrupted",
            "The collector was not connected when the run was ended: what it measured behind the "
            "last instant never came.",
        )
    return wanted


def _gone(target: Target | None) -> Ending:
    """Its target is sampled no more, and its last frame does not come."""
    if target is not None and target.state == "exited":
        return Ending(
            "target-ended", "interrupted", "The process has ended; its last frames never came."
        )
    return Ending(
        "collector-lost",
        "interrupted",
        "The collector ended, and another one does not know the target: what it measured behind "
        "the last instant never came.",
    )


def _is_overdue(recording: Recording, silent_s: float, patience: RecordingTimeouts) -> bool:
    last = recording.stats.last
    if recording.until_ns is not None and last is not None:
        left_s = (recording.until_ns - last.time_ns) / 1e9
        return silent_s > left_s + patience.overdue
    if recording.duration_ns is not None and last is None:
        return silent_s > recording.duration_ns / 1e9 + patience.overdue
    return False
