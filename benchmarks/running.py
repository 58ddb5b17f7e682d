"""Programs that benchmarks run: tidscope as a person starts it, and C programs built on demand."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

TOKEN = "benchmark-" + os.urandom(8).hex()


class Running:
    """A collector and a backend.

    Args:
        address: address of the backend, with its scheme.
        up: the process that keeps both.

    Attributes:
        up_pid: its process ID.
    """

    def __init__(self, address: str, up: int) -> None:
        self.address = address
        self.up_pid = up
        self._up = psutil.Process(up)

    @property
    def collector(self) -> psutil.Process:
        """The collector's process."""
        return self._child("tidscope_collector")

    @property
    def backend(self) -> psutil.Process:
        """The backend's process."""
        return self._child("tidscope_backend")

    @property
    def url(self) -> str:
        """URL of the page, with its token."""
        return self.url_of("/")

    def url_of(self, address: str) -> str:
        """An address of the page, with its token."""
        return f"{self.address}{address}#token={TOKEN}"

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request to the backend, POST with a body; return the JSON answer."""
        return json.loads(self.fetch(path, body))

    def fetch(
        self, path: str, body: dict[str, Any] | None = None, method: str | None = None
    ) -> bytes:
        """Ask the backend, by another method if given; return the answer's bytes."""
        request = urllib.request.Request(
            f"{self.address}/api/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            found: bytes = answer.read()
            return found

    def _child(self, module: str) -> psutil.Process:
        for process in self._up.children(recursive=True):
            if module in " ".join(process.cmdline()):
                return process
        raise SystemExit(f"no child of tidscope up runs {module}")


@contextmanager
def tidscope(*options: str, **environ: str) -> Iterator[Running]:
    """Run `tidscope up` on a free port, with options and environment added."""
    inherited = {k: v for k, v in os.environ.items() if k != "TIDSCOPE_COLLECTOR_SECRET"}
    environment = {**inherited, "TIDSCOPE_TOKEN": TOKEN, **environ}
    command = [str(Path(sys.executable).with_name("tidscope")), "up", "--port", "0", "--no-open"]
    with subprocess.Popen(
        [*command, "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    ) as up:
        try:
            assert up.stdout is not None
            yield Running(json.loads(up.stdout.readline())["address"], up.pid)
        finally:
            up.terminate()
            up.wait(20)


def cpu(process: psutil.Process) -> float:
    """User and system seconds so far, those of children that it waited for included."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


HERE = Path(__file__).resolve().parent


def build(name: str, folder: Path, *options: str) -> Path:
    """Compile NAME.c of this folder into another one; the program's path."""
    program = folder / name
    compiler = shutil.which("cc") or "cc"
    command = [compiler, "-O2", "-pthread", *options, "-o", str(program)]
    command.append(str(HERE / f"{name}.c"))
    subprocess.run(command, check=True)
    return program


def build_bpf(name: str, folder: Path) -> bytes:
    """Compile NAME.bpf.c of this folder; the object, as it is loaded."""
    compiled = folder / f"{name}.bpf.o"
    headers = f"-I/usr/include/{os.uname().machine}-linux-gnu"
    options = ("-target", "bpf", "-mcpu=v3", "-O2", "-g", headers)
    source = str(HERE / f"{name}.bpf.c")
    subprocess.run(["clang", *options, "-c", source, "-o", str(compiled)], check=True)
    return compiled.read_bytes()


@contextmanager
def wakers(threads: int, period_ms: int, sleeping: int = 0) -> Iterator[int]:
    """Run a program whose threads, except `sleeping`, wake once a period; yield its process ID."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(build("wakers", Path(folder))), str(threads), str(period_ms), str(sleeping)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                process.stdout.readline()
                yield process.pid
            finally:
                process.kill()
