"""Drives the programs known_code*: their time in each function, by their own account.

A line "SECONDS" lets a program start threads which work for so long. Workers call functions
repeatedly, a random number of times each: `wait_briefly` and `wait_longer` wait for what never comes, `rest_briefly` and
`rest_longer` sleep, `compute_some` and `compute_more` compute. One more thread waits in
`await_release` for two others in turn, which release it in `post_soon` and `post_late`. Once all
have ended, the program writes a line of JSON (`CodeAccount`). Functions are named as their language
does.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from programs.build import build_c, build_cpp, build_go_module, build_java, build_rust
from programs.running import RunningProgram
from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent


class CodeAccount(BaseModel):
    """Own account of a program.

    Attributes:
        workers: nanoseconds by function of each worker, by thread ID.
        waiter: ID of the thread that is released; 0: none is.
        released_ns: nanoseconds of its waits by the function that ended them.
        releasers: ID of the thread that calls each of these functions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    workers: dict[int, dict[str, int]]
    waiter: int
    released_ns: dict[str, int]
    releasers: dict[str, int]

    @property
    def ns(self) -> dict[str, int]:
        """Nanoseconds by function of all workers."""
        totals: dict[str, int] = {}
        for one in self.workers.values():
            for name, ns in one.items():
                totals[name] = totals.get(name, 0) + ns
        return totals


class KnownCode(RunningProgram):
    """A running program.

    Args:
        command: command to execute.
        env: environment; None: that of the test.
    """

    def __init__(
        self, command: Sequence[str | Path], env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(command, env)
        assert self.line() == "ready"

    def begin(self, seconds: float) -> None:
        """Let it work."""
        self.tell(f"{seconds}\n")

    def account(self) -> CodeAccount:
        """Wait until all threads have ended; return what they did."""
        return CodeAccount.model_validate_json(self.line())


def command(language: str) -> list[str | Path]:
    """Return the command of a program, built if needed.

    Args:
        language: one of LANGUAGES.
    """
    match language:
        case "c":
            return [build_c(HERE / "known_code.c", "-O2", "-fomit-frame-pointer")]
        case "c++":
            return [build_cpp(HERE / "known_code.cc", "-O2", "-fomit-frame-pointer")]
        case "rust":
            return [build_rust(HERE / "known_code_rust" / "main.rs")]
        case "go":
            return [build_go_module(HERE / "known_code_go")]
        case "python":
            return [sys.executable, HERE / "known_code_python" / "main.py"]
        case "java":
            classes = build_java("known_code_java", [HERE / "known_code_java" / "Main.java"])
            return ["java", "-Xmx128m", "-XX:+UseSerialGC", "-cp", classes, "Main"]
        case "node":
            return ["node", HERE / "known_code_node" / "main.js"]
    raise ValueError(language)
