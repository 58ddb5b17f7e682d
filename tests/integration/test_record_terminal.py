"""`tidscope record -- COMMAND` in a terminal: the command has it as it would without us."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from processes import wait_until
from shell_terminal import ShellTerminal
from tidscope_wire.generated.models import RunManifest

pytestmark = [needs("root"), pytest.mark.timeout(240)]
RECORD = f"{sys.executable} -m tidscope_backend record"
GUEST = f"{sys.executable} {Path(__file__).parents[1] / 'programs' / 'terminal_guest.py'}"
CTRL_C, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x1a", "\x1c"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Of a person who has no running tidscope."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TIDSCOPE_")}
    return {**own, "TIDSCOPE_RUNS": str(tmp_path / "runs")}


@pytest.fixture
def terminal(environ: dict[str, str]) -> Iterator[ShellTerminal]:
    with ShellTerminal(environ) as shell:
        yield shell


def only_run(environ: dict[str, str]) -> RunManifest:
    (path,) = Path(environ["TIDSCOPE_RUNS"]).glob("r-*")
    return RunManifest.model_validate_json((path / "manifest.json").read_text())


def test_keys_and_sizes_are_the_commands(environ: dict[str, str], terminal: ShellTerminal) -> None:
    """Ctrl-C again and again, Ctrl-Z and fg, another size; each signal comes once."""
    terminal.resize(24, 80)
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    terminal.wait_for(r"terminals True True True")
    terminal.wait_for(r"ready \d+ \d+")
    terminal.type(CTRL_C)
    terminal.wait_for(r"SIGINT 1 80 24")
    terminal.resize(50, 132)
    terminal.wait_for(r"SIGWINCH 1 132 50")
    terminal.type(CTRL_Z)
    terminal.wait_for(r"Stopped")
    terminal.type("echo shell $((6 * 7))\n")
    terminal.wait_for(r"shell 42")
    terminal.type("fg\n")
    terminal.wait_for(r"SIGCONT 1 ")
    terminal.type(CTRL_C)
    terminal.wait_for(r"SIGINT 2 ")
    terminal.type(CTRL_BACKSLASH)
    terminal.wait_for(r"SIGQUIT 1 ")
    before = len(terminal.text)
    terminal.type(CTRL_C)
    terminal.wait_for(r"SIGINT 3 ")
    terminal.wait_for(r"code 9")
    assert "recorded r-" in terminal.text[before:]
    manifest = only_run(environ)
    assert (manifest.state, manifest.end) == ("complete", "target-ended")
    assert manifest.outcome is not None
    assert (manifest.outcome.output_bytes, manifest.outcome.output_tail) == (None, None)


def test_what_is_sent_to_us_alone_is_passed_on_once(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    ours = int(terminal.wait_for(r"ready \d+ (\d+)")[1])
    assert terminal.foreground() == os.getpgid(ours)
    # In the foreground, too: it is not the terminal that has sent them.
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH"):
        os.kill(ours, signal.Signals[name])
        terminal.wait_for(rf"{name} 1 ")
    os.kill(ours, signal.SIGTSTP)
    terminal.wait_for(r"Stopped")
    terminal.type("fg\n")
    terminal.wait_for(r"SIGCONT 1 ")
    for number in (2, 3):
        os.kill(ours, signal.SIGINT)
        terminal.wait_for(rf"SIGINT {number} ")
    terminal.wait_for(r"code 9")
    assert only_run(environ).state == "complete"


def test_no_thread_of_ours_but_the_first_gets_signals(terminal: ShellTerminal) -> None:
    """The kernel gives a signal to any thread of a process that does not block it."""
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    ours = int(terminal.wait_for(r"ready \d+ (\d+)")[1])
    for status in Path(f"/proc/{ours}/task").glob("*/status"):
        (blocked,) = re.findall(r"SigBlk:\s+(\w+)", status.read_text())
        assert int(blocked, 16) >> (signal.SIGTERM - 1) & 1, status
    terminal.type(CTRL_BACKSLASH)
    terminal.wait_for(r"SIGQUIT 1 ")


def test_a_killed_command_leaves_no_modes_behind(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    """Its shell restores them after a signal, and sees that of the command no more."""
    terminal.type("echo first $((1 + 1))\n")
    terminal.wait_for(r"first 2")
    script = "stty raw -echo; echo ready $$; kill -KILL $$"
    terminal.type(f"{RECORD} -- sh -c '{script}'; stty -a; echo code $?\n")
    terminal.wait_for(r"ready \d+")
    text = terminal.wait_for(r"(?s:speed .*code 0)")[0]
    assert " icanon" in text
    assert " echo " in text
    outcome = only_run(environ).outcome
    assert outcome is not None
    assert outcome.signal == "SIGKILL"


def test_a_closed_window_ends_the_command_and_its_run(environ: dict[str, str]) -> None:
    with ShellTerminal(environ) as terminal:
        terminal.type(f"{RECORD} -- sh -c 'echo ready $$; exec sleep 600'\n")
        terminal.wait_for(r"ready \d+")
        terminal.close()
    wait_until(lambda: only_run(environ).outcome is not None, 60)
    manifest = only_run(environ)
    assert (manifest.state, manifest.end) == ("complete", "target-ended")
    assert manifest.outcome is not None
    assert manifest.outcome.signal == "SIGHUP"
