"""Drives waits_go, waits_java and waits_python: the same waits in each language."""

import sys
from pathlib import Path

from processes import thread_files
from programs.agent_program import JAVA_OPTIONS
from programs.build import build_go_module, build_java
from programs.running import RunningProgram
from pydantic import BaseModel, ConfigDict, TypeAdapter

HERE = Path(__file__).parent


class Waiter(BaseModel):
    """Own account of a thread.

    Attributes:
        tid: ID; 0 where the language does not know it.
        wall_ns: from its beginning to its end.
        waited_ns: time in the wait that the thread is for, in nanoseconds; 0 if unknown.
        paused_ns: time stopped while it computed, by the gaps between its clock reads; 0 if it does
            not look.
        cpu_ns: CPU time of its whole life, in nanoseconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int = 0
    wall_ns: int
    waited_ns: int
    paused_ns: int = 0
    cpu_ns: int


def command(language: str) -> list[str]:
    """Return the command of the program, built if needed."""
    if language == "python":
        return [sys.executable, str(HERE / "waits_python" / "main.py")]
    if language == "java":
        classes = build_java("waits_java", [HERE / "waits_java" / "Main.java"])
        return ["java", *JAVA_OPTIONS, "-cp", str(classes), "Main"]
    return [str(build_go_module(HERE / "waits_go"))]


class RuntimeWaits(RunningProgram):
    """A running program, which ends by itself.

    Args:
        language: go, java or python.
    """

    def __init__(self, language: str) -> None:
        super().__init__(command(language))
        assert self.line() == "ready"

    def work(self) -> dict[str, Waiter]:
        """Make all threads wait; return their accounts by name when all are done."""
        said = TypeAdapter(dict[str, Waiter]).validate_json(self.ask("\n"))
        return {
            name: one if one.tid else one.model_copy(update={"tid": self._tid(name)})
            for name, one in said.items()
        }

    def _tid(self, name: str) -> int:
        """Account of a thread whose name the kernel knows."""
        for tid, comm in thread_files(self.pid, "comm").items():
            if comm == f"{name}\n":
                return tid
        raise AssertionError(f"no thread {name}")

    def close(self) -> None:
        """Wait for the end of the program."""
        self.end_input()
