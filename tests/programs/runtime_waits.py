"""Drives waits_go, waits_java and waits_python: the same waits in each language."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.agent_program import JAVA_OPTIONS
from programs.build import build_go_module, build_java
from pydantic import BaseModel, ConfigDict, TypeAdapter

HERE = Path(__file__).parent


class Waiter(BaseModel):
    """What a thread says of itself.

    Attributes:
        tid: its id; 0 where the language does not know it.
        wall_ns: from its beginning to its end.
        waited_ns: of that, in the wait that it is for; 0 if it does not know.
        cpu_ns: of its whole life.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int = 0
    wall_ns: int
    waited_ns: int
    cpu_ns: int


def command(language: str) -> list[str]:
    """How to start the program; it is built if it has to be."""
    if language == "python":
        return [sys.executable, str(HERE / "waits_python" / "main.py")]
    if language == "java":
        classes = build_java("waits_java", [HERE / "waits_java" / "Main.java"])
        return ["java", *JAVA_OPTIONS, "-cp", str(classes), "Main"]
    return [str(build_go_module(HERE / "waits_go"))]


class RuntimeWaits:
    """A running program; use it in a ``with`` statement.

    Args:
        language: go, java or python.
    """

    def __init__(self, language: str) -> None:
        self._process = subprocess.Popen(
            command(language), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid
        assert self._line() == "ready\n"

    def work(self) -> dict[str, Waiter]:
        """Let its threads wait; returns when all are done: what each says, by name."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        said = TypeAdapter(dict[str, Waiter]).validate_json(self._line())
        return {
            name: one if one.tid else one.model_copy(update={"tid": self._tid(name)})
            for name, one in said.items()
        }

    def _tid(self, name: str) -> int:
        """Of a thread whose name the kernel knows."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return next(int(one.name) for one in tasks if (one / "comm").read_text() == f"{name}\n")

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=20)
