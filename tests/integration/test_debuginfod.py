"""Debug files come from debuginfod servers, hostile ones included, and name frames of stacks."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
from capabilities import missing, needs
from processes import wait_until
from programs.build import build_c
from programs.placed import OPTIMIZED, build_placed, debug_copy, read_file, stripped_copy
from tidscope_backend.debug_files.cache import DebugFileCache
from tidscope_backend.debug_files.fetching import Fetched, fetch
from tidscope_processes import Up, free_port, up

UNPACKED = Path(__file__).parents[2] / ".cache" / "debuginfod" / "usr"
KNOWN_C = Path(__file__).parents[1] / "programs" / "known_code.c"
MIB = 1 << 20


class Hostile(ThreadingHTTPServer):
    """A server that answers each build ID as `answers` says, with (status, headers, body).

    Attributes:
        asked: paths that were asked for.
        over: set when the test is over.
    """

    daemon_threads = True

    def __init__(self, answers: dict[str, tuple[int, dict[str, str], bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.answers = answers
        self.asked: list[str] = []
        self.over = Event()

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answering(BaseHTTPRequestHandler):
    server: Hostile

    def do_GET(self) -> None:
        """Answer; a body of None never ends."""
        self.server.asked.append(self.path)
        build_id = self.path.split("/")[2]
        if build_id == "51" * 20:
            self._drip()
            return
        status, headers, body = self.server.answers.get(build_id, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """Answer a header at a time until nobody reads."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        try:
            while not self.server.over.wait(0.1):
                self.wfile.write(b"X-More: 1\r\n")
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def hostile(answers: dict[str, tuple[int, dict[str, str], bytes]]) -> Iterator[Hostile]:
    server = Hostile(answers)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


async def test_hostile_servers_leave_no_file_and_hang_nothing(tmp_path: Path) -> None:
    program = build_placed(*OPTIMIZED)
    own, debug = read_file(program).build_id, debug_copy(program, tmp_path / "placed.debug")
    stripped = stripped_copy(program, tmp_path)
    other, large, garbage, cut, away, busy, slow, bare = (
        f"{one:02x}" * 20 for one in (1, 2, 3, 4, 5, 6, 0x51, 7)
    )
    data = debug.read_bytes()
    answers: dict[str, tuple[int, dict[str, str], bytes]] = {
        own: (200, {}, stripped.read_bytes()),
        other: (200, {}, data),
        large: (200, {}, bytes(MIB)),
        garbage: (200, {}, b"\x7fELF" + b"\xff" * 4096),
        cut: (200, {"Content-Length": "4096"}, b"x"),
        away: (302, {"Location": "file:///etc/shadow"}, b""),
        busy: (503, {}, b""),
    }
    cache = DebugFileCache(tmp_path / "cache", MIB)
    cache.open()
    with hostile(answers) as server:

        async def outcome(build_id: str, seconds: float = 60.0) -> Fetched:
            found = await fetch([server.url], cache, build_id, "bank", seconds)
            assert cache.has(build_id) == (found.outcome == "fetched")
            assert not cache.partial.exists()
            return found

        assert (await outcome(own)).text.startswith(f"What {server.url} gave for bank is no debug")
        answers[own] = (200, {}, data)
        assert (await outcome(own)).outcome == "fetched"
        assert (await outcome(other)).outcome == "other_file"
        assert (await outcome(large)).outcome == "too_large"
        assert (await outcome(garbage)).outcome == "damaged"
        assert (await outcome(cut)).outcome == "unreachable"
        moved = await outcome(away)
        assert moved.outcome == "refused"
        assert "a redirect to file:///etc/shadow, which is not followed" in moved.text
        assert (await outcome(busy)).text.endswith("status 503.")
        assert (await outcome(slow, 3.0)).outcome == "timeout"
        assert (await outcome(bare)).text == f"{server.url} has no debug file of bank."
        assert server.asked[0] == f"/buildid/{own}/debuginfo"
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            gone = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            assert (await fetch([gone, server.url], cache, own, "bank")).outcome == "fetched"
            assert (await fetch([gone], cache, other, "bank")).outcome == "unreachable"


@contextmanager
def debuginfod(folder: Path) -> Iterator[str]:
    """Serve the debug files in a folder by debuginfod of elfutils."""
    found = shutil.which("debuginfod") or shutil.which("debuginfod", path=str(UNPACKED / "bin"))
    if found is None:
        raise missing("debuginfod")
    port = free_port()
    command = [found, "-d", ":memory:", "-p", str(port), "-t", "0", "-F", str(folder)]
    libraries = ":".join(map(str, (UNPACKED / "lib").glob("*-linux-gnu*")))
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": libraries},
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def serves(server: str, build_id: str) -> bool:
    try:
        return httpx.get(f"{server}/buildid/{build_id}/debuginfo").status_code == 200
    except httpx.TransportError:
        return False


def functions(client: httpx.Client, path: str) -> dict[str, int]:
    """Return lines of the program's own functions in a flame graph."""
    graph = client.get(f"{path}/stacks", params={"state": ["futex", "sleep"]}).json()
    return {
        one["function"]: one["line"]
        for one in graph["frames"]
        if one["named"] and one["module"] == "known_code"
    }


@needs("root")
@needs("btf")
@needs("stacks")
def test_a_stripped_program_has_names_live_and_in_a_run(tmp_path: Path) -> None:
    program = build_c(KNOWN_C, "-g", "-fomit-frame-pointer")
    build_id = read_file(program).build_id
    folder = tmp_path / "served"
    debug_copy(program, folder / "known_code.debug")
    stripped = stripped_copy(program, tmp_path)
    with debuginfod(folder) as server:
        wait_until(lambda: serves(server, build_id))
        cache = tmp_path / "cache"
        options = ("--debuginfod", server, "--debug-files", str(cache))
        state = {"XDG_STATE_HOME": str(tmp_path), "TIDSCOPE_RUNS": str(tmp_path / "runs")}
        with up(*options, **state) as running, stays(stripped) as pid:
            check_names(running, pid)
        kept = cache / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert not [one for one in cache.rglob("*") if one.is_file() and one != kept]


@contextmanager
def stays(program: Path) -> Iterator[int]:
    """Run known_code, whose threads wait."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"600\n")
        process.stdin.flush()
        try:
            yield process.pid
        finally:
            process.kill()


def check_names(running: Up, pid: int) -> None:
    """The live graph has names and lines, and so has a run."""
    with running.client() as client:
        target = client.post("/api/v1/targets", json={"pid": pid}).json()["id"]
        path = f"/api/v1/targets/{target}"
        client.post(f"{path}/stacks", json={"seconds": 600}).raise_for_status()
        wanted = {"wait_longer", "rest_longer"}

        def named() -> bool:
            found = functions(client, path)
            return wanted <= found.keys() and all(found[one] > 40 for one in wanted)

        wait_until(named, 120)
        metrics = client.get("/metrics").text
        assert 'tidscope_debug_files_total{outcome="fetched"} 1.0' in metrics
        started = client.post("/api/v1/runs", json={"target": target, "stacks": True})
        run = f"/api/v1/runs/{started.raise_for_status().json()['id']}"
        wait_until(lambda: recorded_s(client, run) >= 5)
        client.post(f"{run}/stop").raise_for_status()
        assert wanted <= functions(client, run).keys()


def recorded_s(client: httpx.Client, run: str) -> float:
    manifest = client.get(run).json()
    return float(manifest["to_ns"] - manifest["from_ns"]) / 1e9
