"""How long `tidscope record` waits for the last frame of a command that has exited."""

import asyncio
from pathlib import Path

import pytest
import run_builders
from backend_builders import TARGET_ID, stream, target
from backend_server import TOKEN, running_backend
from tidscope_backend.cli import recording_client
from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import LAST_SECONDS, RecordingClient, RecordingOptions
from tidscope_wire.generated.models import RunManifest

UNDESCRIBED = RecordingOptions(
    None, [], None, None, None, None, None, Keeping(arguments=True, output=True)
)


class SlowFrames(RecordingClient):
    """A run that gets a frame just before patience ends, again and again, and ends at last.

    It is the clock as well: asking for the manifest is what takes time.
    """

    now_s = 0.0
    frames = 0

    def monotonic(self) -> float:
        """In the place of the module's clock."""
        return self.now_s

    def sleep(self, _: float) -> None:
        """Likewise; no time passes."""

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """The manifest as it is now."""
        self.now_s += LAST_SECONDS - 1
        self.frames += 1
        counts = manifest.counts.model_copy(update={"frames": self.frames})
        state = "complete" if self.frames == 20 else "recording"
        return manifest.model_copy(update={"counts": counts, "state": state})


def test_it_waits_as_long_as_frames_come(monkeypatch: pytest.MonkeyPatch) -> None:
    with BackendClient("127.0.0.1:1", TOKEN) as backend:
        client = SlowFrames(backend, UNDESCRIBED)
        monkeypatch.setattr(recording_client, "time", client)
        ended = client.wait_for_end(run_builders.manifest(state="recording"))
    assert (ended.state, ended.counts.frames) == ("complete", 20)


def wait_for_end(port: int, manifest: RunManifest) -> RunManifest:
    with BackendClient(f"127.0.0.1:{port}", TOKEN) as client:
        return RecordingClient(client, UNDESCRIBED).wait_for_end(manifest)


async def test_a_run_that_it_gives_up_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector is connected, and the last frame does not come."""
    monkeypatch.setattr(recording_client, "LAST_SECONDS", 0.1)
    async with (
        running_backend(runs_dir=tmp_path / "runs") as backend,
        backend.collector(targets=[target()]) as collector,
        backend.program() as program,
    ):
        await collector.send(*stream(1, 3))
        answer = await program.post("/api/v1/runs", json={"target": TARGET_ID})
        manifest = RunManifest.model_validate_json(answer.content)
        ended = await asyncio.to_thread(wait_for_end, backend.port, manifest)
    assert (ended.state, ended.end) == ("incomplete", "target-ended")
    assert ended.end_detail.startswith("The process has ended; its last frames are missing.")
