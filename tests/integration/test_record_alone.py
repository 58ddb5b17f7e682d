"""`tidscope record` without a running tidscope: its own one, whose runs are whole and closed."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import run_builders
from backend_builders import TARGET_ID, stream, target
from backend_server import TOKEN, running_backend
from capabilities import needs
from processes import stop
from tidscope_backend.cli import local_recorder, recording_client
from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.local_recorder import LocalRecorder
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import LAST_SECONDS, RecordingClient, RecordingOptions
from tidscope_backend.cli.run_text import summary
from tidscope_wire.generated.models import AttachRequest, RunManifest

UNDESCRIBED = RecordingOptions(
    None, [], None, None, None, None, None, Keeping(arguments=True, output=True)
)
NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.md"


@needs("root")
def test_without_its_last_frame_a_run_of_its_own_tidscope_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector is connected and holds the last frames back: record gives up in the end."""
    monkeypatch.setattr(local_recorder, "LAST_FRAME_SECONDS", 1.0)
    children = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children")
    before = children.read_text().split()
    with LocalRecorder(tmp_path / "runs", UNDESCRIBED, None) as recorder:
        (collector,) = {int(one) for one in children.read_text().split() if one not in before}
        with subprocess.Popen(["sleep", "20"]) as process:
            manifest = recorder.start(recorder.attach(AttachRequest(pid=process.pid)))
            stop(collector)
            process.kill()
        try:
            ended = recorder.wait_for_end(manifest)
        finally:
            os.kill(collector, signal.SIGCONT)
    assert (ended.state, ended.end) == ("incomplete", "target-ended")
    assert ended.losses.frames > 0
    assert summary(ended, None, "127.0.0.1:1")[0].startswith(
        "incomplete: The process has ended; its last frames are missing."
    )


@needs("root")
async def test_a_tidscope_of_its_own(tmp_path: Path) -> None:
    """Without a token; the run is closed, can be listed, compared, exported and brought back."""
    runs = tmp_path / "runs"
    environ = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
    environ["TIDSCOPE_RUNS"] = str(runs)

    async def tidscope(*arguments: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tidscope_backend", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environ,
        )
        out, errors = await process.communicate()
        assert "Traceback" not in errors.decode()
        assert "not sealed" not in errors.decode()
        return process.returncode or 0, out.decode()

    burn = "import threading; t = threading.Thread(target=sum, args=(range(3_000_000),))"
    code = f"{burn}; t.start(); t.join(); print('done')"
    assert await tidscope("record", "--name", "before", "--", sys.executable, "-c", code) == (
        0,
        "done\n",
    )
    (path,) = runs.glob("r-*")
    assert not list((path / "open").iterdir())
    assert (path / "threads.parquet").exists()
    archive = tmp_path / "run.tar.zst"
    assert (await tidscope("runs", "export", "before", str(archive)))[0] == 0
    _, text = await tidscope("runs", "import", str(archive), "--json")
    copy = json.loads(text)["id"]
    assert (await tidscope("runs", "rename", copy, "after"))[0] == 0
    _, text = await tidscope("compare", "bef", copy, "--json")
    reported = json.loads(text)
    assert [one["run"] for one in reported["runs"]] == [path.name, copy]
    (cpu,) = [m for m in reported["metrics"] if (m["metric"], m["role"]) == ("cpu_run_ns", None)]
    assert all(group["mean"] > 20_000_000 for group in cpu["groups"])
    _, text = await tidscope("compare", "bef", "aft")
    assert "On-CPU time" in text
    _, listed = await tidscope("runs", "list", "--json")
    assert {(run["name"], run["imported"]) for run in json.loads(listed)} == {
        ("after", True),
        ("before", False),
    }
    # The page's examples, each alone, on runs that were recorded.
    examples = re.findall(r"```python\n(.*?)```", NOTEBOOK.read_text(), re.DOTALL)
    columns = (("role", "seconds", "wait_ns"), ("cpu_s", "cores", "On-CPU time"))
    for example, shown in zip(examples, columns, strict=True):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", example),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environ,
        )
        out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        assert all(each in out.decode() for each in shown), out.decode()


@needs("root")
async def test_under_sudo_a_run_belongs_to_the_caller(tmp_path: Path) -> None:
    """The run's files are created as that user, who may write nowhere else."""
    runs = tmp_path / "runs"
    runs.mkdir()
    os.chown(runs, 65534, 65534)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o111)
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "record", "--", "true"),
        stderr=asyncio.subprocess.PIPE,
        env={**environ, "TIDSCOPE_RUNS": str(runs), "SUDO_UID": "65534", "SUDO_GID": "65534"},
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    (run,) = runs.iterdir()
    assert (run / "threads.parquet").exists()
    assert {path.stat().st_uid for path in (run, *run.rglob("*"))} == {65534}


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
