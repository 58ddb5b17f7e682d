"""Programs that work all the time, for a collector to steer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Self

from programs.agent_program import C_FLAGS, JAVA_OPTIONS
from programs.build import build_c, build_go, build_go_module, build_java, build_rust

HERE = Path(__file__).parent
AGENTS = HERE.parents[1] / "agents"


def contended_go(largest: int = 8) -> list[str]:
    """Goroutines that spin for a lock: best with as many threads as there are CPUs, or one."""
    program = build_go_module(HERE / "steered_go", AGENTS / "go")
    return [str(program), str(largest), "40000", "8000"]


def mutex_go(workers: int = 8, clients: int = 16, locked_us: int = 200) -> list[str]:
    """An HTTP server whose pool's workers take turns at a mutex: no size changes much."""
    program = build_go_module(HERE / "mutex_go", AGENTS / "go")
    return [str(program), str(workers), str(clients), str(locked_us)]


def crowded_go(workers: int = 16, largest: int = 32) -> list[str]:
    """A steered Go pool of workers that get in each other's way; 6 do most."""
    program = build_go_module(HERE / "crowded_go", AGENTS / "go")
    return [str(program), str(workers), str(largest)]


def crowded_c(places: int = 16, largest: int = 32) -> list[str]:
    """A steered C pool of places whose jobs get in each other's way; 6 do most."""
    program = build_c(HERE / "crowded_c" / "main.c", *C_FLAGS)
    return [str(program), str(places), str(largest)]


def waiting_python(smallest: int = 1, largest: int = 16) -> list[str]:
    """A pool whose jobs wait for something outside: many workers are better than one."""
    program = HERE / "steered_python" / "main.py"
    return [sys.executable, str(program), str(smallest), str(largest)]


PENALTY = 0.2
"""Loss of throughput for each worker beyond the best number, in programs of known throughput."""


def misbehaving() -> list[str]:
    """A pool of two, with a metrics endpoint that serves as its input says."""
    return [sys.executable, str(HERE / "misbehaving.py")]


def known_throughput(size: int, best: int) -> float:
    """Throughput of paced_go and paced_python at a size, 1 being that at the best size."""
    return size / best if size <= best else 1 / (1 + PENALTY * (size - best))


def paced_go(largest: int, best: int) -> list[str]:
    """A Go program of which GOMAXPROCS alone decides how much it does; see `known_throughput`."""
    program = build_go_module(HERE / "paced_go", AGENTS / "go")
    return [str(program), str(largest), str(best), str(PENALTY)]


def paced_python(largest: int, best: int, wait_s: float = 0.060) -> list[str]:
    """A pool of which the number of workers alone decides how much it does."""
    program = HERE / "paced_python" / "main.py"
    return [
        sys.executable,
        str(program),
        str(largest),
        str(best),
        str(PENALTY),
        str(wait_s),
    ]


def paced_java(largest: int, best: int, wait_s: float = 0.060, own: int = 1) -> list[str]:
    """Command of the paced program in Java, which has its own number of workers at first."""
    agent = sorted((AGENTS / "java" / "src").rglob("*.java"))
    classes = build_java("paced_java", [*agent, HERE / "paced_java" / "Paced.java"])
    options = [str(own), str(largest), str(best), str(PENALTY), str(wait_s)]
    return ["java", *JAVA_OPTIONS, "-cp", str(classes), "Paced", *options]


def paced_rust(largest: int, best: int, wait_s: float = 0.060) -> list[str]:
    """Command of the paced program in Rust."""
    built = build_rust(HERE / "paced_rust" / "main.rs", AGENTS / "rust" / "tidscope_agent")
    return [str(built), str(largest), str(best), str(PENALTY), str(wait_s)]


def served_go() -> list[str]:
    """A Go program without an agent that does most with one thread, and serves how much it did."""
    return [str(build_go(HERE / "served.go")), "1000", str(PENALTY)]


def several(*commands: list[str]) -> list[str]:
    """A program that runs others, and says their process ids."""
    return [sys.executable, str(HERE / "several.py"), json.dumps(commands)]


def planted_gain(factor: float) -> list[str]:
    """A pool of one worker that does so many times as much with two; 100 jobs a second with one."""
    best, penalty = (factor, 0.0) if factor >= 1 else (1.0, 1 / factor - 1)
    program = HERE / "paced_python" / "main.py"
    return [
        sys.executable,
        str(program),
        "8",
        str(best),
        str(penalty),
        str(0.01 * best),
    ]


class Steered:
    """A running program; use it in a ``with`` statement.

    Args:
        command: command that starts it.
        folder: for its socket; None: it has no agent.
    """

    def __init__(self, command: list[str], folder: Path | None = None) -> None:
        environment = {**os.environ, "PYTHONPATH": str(AGENTS / "python")}
        if folder is not None:
            environment["TIDSCOPE_AGENT_DIR"] = str(folder)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self.said = self._process.stdout.readline()
        assert self.said.startswith("ready"), self.said

    def say(self, line: str) -> str:
        """Send it a line, and wait until it has done what that says; what it answers to it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        done, _, answer = self._process.stdout.readline().rstrip("\n").partition(" ")
        assert done == "done"
        return answer

    def end(self) -> None:
        """Close its input and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
