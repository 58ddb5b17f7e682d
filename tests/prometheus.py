"""Debian's Prometheus inside a test: a real server that scrapes, and promtool."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx
import yaml
from ports import free_port

UNPACKED = Path(__file__).parent.parent / ".cache" / "prometheus" / "usr" / "bin"
PATIENCE_S = 120.0
POLL_S = 0.1


def program(name: str) -> str:
    """Return the path of prometheus or promtool; fail the test if it is missing."""
    found = shutil.which(name, path=os.pathsep.join([str(UNPACKED), os.environ.get("PATH", "")]))
    assert found, f"{name} is missing; tools/install-test-packages unpacks it"
    return found


def promtool(*arguments: str | Path, text: str = "") -> str:
    """Run promtool, which has to be content; what it said."""
    done = subprocess.run(
        [program("promtool"), *arguments], input=text, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


class Prometheus:
    """A server on loopback, with its data in a folder of the test; use it in a ``with`` statement.

    Args:
        folder: for configuration and data.
        config: config of Prometheus, as its file has it.
    """

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.port = free_port()
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        promtool("check", "config", file)
        self._log = folder / "prometheus.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [
                    program("prometheus"),
                    f"--config.file={file}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=120)

    def __enter__(self) -> Self:
        try:
            self.until(self._ready, "Prometheus is not ready")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it and wait for it."""
        self._client.close()
        self._process.terminate()
        try:
            self._process.wait(120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def query(self, expression: str) -> dict[frozenset[tuple[str, str]], float]:
        """Evaluate an expression now, through the HTTP API: labels to value."""
        answer = self._client.get("/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", answer
        return {
            frozenset(series["metric"].items()): float(series["value"][1])
            for series in answer["data"]["result"]
        }

    def eventually(self, expression: str) -> dict[frozenset[tuple[str, str]], float]:
        """Evaluate an expression once it gives something.

        A scrape that takes too long, as on a machine that is busy, ends all series until the next.
        """
        found: dict[frozenset[tuple[str, str]], float] = {}

        def given() -> bool:
            found.update(self.query(expression))
            return bool(found)

        self.until(given, f"no series for {expression}")
        return found

    def known(self, expression: str) -> float:
        """The value of an expression that gives one series, once it gives it."""
        (value,) = self.eventually(expression).values()
        return value

    def value(self, expression: str) -> float | None:
        """Evaluate an expression that gives one series; None while it gives none."""
        found = list(self.query(expression).values())
        assert len(found) <= 1, found
        return found[0] if found else None

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Ask again until something holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, f"{what}\n{self._log.read_text()}"
            time.sleep(POLL_S)

    def _ready(self) -> bool:
        try:
            return self._client.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False
