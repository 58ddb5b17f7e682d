"""Whether a Go program follows its affinity: found out before anything is touched.

From Go 1.25 on the runtime adapts GOMAXPROCS to the CPUs that it may use (runtime.GOMAXPROCS in
Go's documentation), with three exceptions, each of which can be seen from outside.
"""

import re
from dataclasses import dataclass

from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram, open_gomaxprocs
from tidscope_collector.inspection.reader import ask_go_chosen, ask_go_environment
from tidscope_collector.steering.knobs.knob import KnobRefusedError

FIRST_VERSION = (1, 25)
_VERSION = re.compile(r"go(\d+)\.(\d+)")
_AGENT = "link the Go agent into it instead"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """A program that can be steered by affinity.

    Attributes:
        reader: of GOMAXPROCS; owned by the caller.
        proven: whether the runtime says that nobody chose GOMAXPROCS; if not, only trying tells.
    """

    reader: GomaxprocsReader
    proven: bool


def check(pid: int, start_ticks: int) -> PreflightResult:
    """Look at a process.

    Raises:
        KnobRefusedError: it cannot be steered by affinity; why, and what would help.
    """
    program = open_gomaxprocs(pid, start_ticks)
    if program.reader is None:
        raise KnobRefusedError(f"GOMAXPROCS cannot be read back: {program.reason}")
    try:
        _check_version(pid, program)
        variables = _environment(pid, start_ticks)
        _check_environment(pid, variables)
        _check_setting(pid, program.settings, variables)
        chosen = ask_go_chosen(pid, start_ticks)
        if chosen:
            raise KnobRefusedError(
                f"Process {pid} called runtime.GOMAXPROCS itself: the runtime keeps that "
                f"value and ignores the affinity. Remove the call, or {_AGENT}."
            )
    except BaseException:
        program.reader.close()
        raise
    return PreflightResult(program.reader, chosen is False)


def _check_version(pid: int, program: GoProgram) -> None:
    found = _VERSION.match(program.version or "")
    if found is None:
        raise KnobRefusedError(
            f"Process {pid} does not record its Go version: go-affinity needs "
            f"1.25 or newer. Build it with a released version, or {_AGENT}."
        )
    if (int(found[1]), int(found[2])) < FIRST_VERSION:
        raise KnobRefusedError(
            f"Process {pid} was built with {program.version}: runtimes follow the affinity from "
            f"Go 1.25 on. Build it with a newer version, or {_AGENT}."
        )


def _check_environment(pid: int, variables: dict[str, str]) -> None:
    value = variables.get("GOMAXPROCS", "")
    # What is no positive number the runtime does not regard.
    if re.fullmatch(r"[+]?[0-9]+", value) and int(value) > 0:
        raise KnobRefusedError(
            f"Process {pid} was started with GOMAXPROCS={value} in its environment: the runtime "
            f"keeps that value and ignores the affinity. Start it without, or {_AGENT}."
        )


def _check_setting(pid: int, settings: dict[str, str], variables: dict[str, str]) -> None:
    """GODEBUG: that of the environment overrides that of the build."""
    environment = _godebug(variables.get("GODEBUG", ""))
    built = _godebug(settings.get("DefaultGODEBUG", ""))
    if environment.get("updatemaxprocs") == "0":
        raise KnobRefusedError(
            f"Process {pid} was started with updatemaxprocs=0 in GODEBUG: the runtime does not "
            f"follow the affinity. Start it without, or {_AGENT}."
        )
    if built.get("updatemaxprocs") == "0" and "updatemaxprocs" not in environment:
        raise KnobRefusedError(
            f"Process {pid} was built with a go.mod below 1.25 (updatemaxprocs=0): the runtime "
            "does not follow the affinity. Raise the go line of its go.mod, or start it with "
            f"GODEBUG=updatemaxprocs=1, or {_AGENT}."
        )


def _godebug(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _environment(pid: int, start_ticks: int) -> dict[str, str]:
    try:
        return ask_go_environment(pid, start_ticks)
    except UnreadableError as error:
        raise KnobRefusedError(
            f"The environment of process {pid} may not be read: {error}. Run the collector as root."
        ) from error
    except NoAnswerError as error:
        raise KnobRefusedError(str(error)) from error
