"""`tidscope record -- COMMAND` in a terminal: the command has it as it would without us."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from processes import descendants, status, stop, thread_files, wait_until
from shell_terminal import ShellTerminal
from tidscope_wire.generated.models import RunManifest

pytestmark = needs("root")
RECORD = f"{sys.executable} -m tidscope_backend record"
GUEST = f"{sys.executable} {Path(__file__).parents[1] / 'programs' / 'terminal_guest.py'}"
CTRL_C, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x1a", "\x1c"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Environment of a person without a running tidscope."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TIDSCOPE_")}
    return {**own, "TIDSCOPE_RUNS": str(tmp_path / "runs")}


@pytest.fixture
def terminal(environ: dict[str, str]) -> Iterator[ShellTerminal]:
    with ShellTerminal(environ) as shell:
        yield shell


def only_run(environ: dict[str, str]) -> RunManifest:
    (path,) = Path(environ["TIDSCOPE_RUNS"]).glob("r-*")
    return RunManifest.model_validate_json((path / "manifest.json").read_text())


def name_of(pid: int) -> list[str]:
    """Name of a process; empty if it has ended."""
    try:
        return status(pid, "Name")
    except (FileNotFoundError, ProcessLookupError):
        return []


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
    assert "SIGCONT 2" not in terminal.text
    manifest = only_run(environ)
    assert (manifest.state, manifest.end) == ("complete", "target-ended")
    assert manifest.outcome is not None
    assert (manifest.outcome.output_bytes, manifest.outcome.output_tail) == (None, None)


def test_what_is_sent_to_us_alone_is_passed_on_once(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    ours = int(terminal.wait_for(r"ready \d+ (\d+)\r")[1])
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
    ours = int(terminal.wait_for(r"ready \d+ (\d+)\r")[1])
    for tid, text in thread_files(ours, "status").items():
        (blocked,) = re.findall(r"SigBlk:\s+(\w+)", text)
        assert int(blocked, 16) >> (signal.SIGTERM - 1) & 1, tid
    terminal.type(CTRL_BACKSLASH)
    terminal.wait_for(r"SIGQUIT 1 ")


def test_a_killed_command_leaves_no_modes_behind(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    """The recorder restores the modes: its shell does not see that a signal killed the command."""
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


def test_a_pager_has_its_keys_and_its_screen(terminal: ShellTerminal, tmp_path: Path) -> None:
    """A pager reads keys from the terminal itself, sets its modes, and stops its process group."""
    file = tmp_path / "long"
    file.write_text("".join(f"line-{number}\n" for number in range(1, 2001)))
    terminal.type(f"{RECORD} -- less {file}; echo code $?\n")
    terminal.wait_for(r"line-1\r")
    terminal.type("G")
    terminal.wait_for(r"line-2000")
    # A signal that comes while it paints waits for the next key.
    terminal.wait_for(r"\(END\)\x1b\[27m\x1b\[K")
    (pager,) = (one for one in descendants(terminal.pid) if name_of(one) == ["less"])
    wait_until(lambda: status(pager, "State")[0] == "S")
    terminal.type(CTRL_Z)
    terminal.wait_for(r"Stopped")
    terminal.type("fg\n")
    terminal.wait_for(r"line-2000")
    before = len(terminal.text)
    terminal.type("q")
    terminal.wait_for(r"code 0")
    assert "recorded r-" in terminal.text[before:]
    assert "recorded r-" not in terminal.text[:before]


def test_a_shell_has_jobs_of_its_own(environ: dict[str, str], terminal: ShellTerminal) -> None:
    inner = "bash --norc --noprofile -i"
    terminal.type(f"PS1='inner> ' {RECORD} -- {inner}; echo outer code $?\n")
    terminal.wait_for(r"(h|[\r\n])inner> ")
    terminal.type(f"{GUEST}\n")
    terminal.wait_for(r"ready")
    terminal.type(CTRL_Z)
    terminal.wait_for(r"Stopped")
    terminal.type("fg; echo inner $?; exit 5\n")
    terminal.wait_for(r"SIGCONT 1 ")
    for number in range(1, 4):
        terminal.type(CTRL_C)
        terminal.wait_for(rf"SIGINT {number} ")
    terminal.wait_for(r"inner 9")
    terminal.wait_for(r"outer code 5")
    outcome = only_run(environ).outcome
    assert outcome is not None
    assert (outcome.exit_code, outcome.command) == (5, inner.split())


def test_input_and_output_that_go_elsewhere(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    """The command gets terminals as they are; other streams pass through the recorder."""
    script = "cat; test -t 0 || echo in; test -t 1 || echo out; test -t 2 || echo errors"
    terminal.type(f"echo given | {RECORD} -- sh -c '{script}' | tr a-z A-Z; echo done\n")
    terminal.wait_for(r"GIVEN\s+IN\s+OUT\s")
    terminal.wait_for(r"done")
    assert "ERRORS" not in terminal.text
    outcome = only_run(environ).outcome
    assert outcome is not None
    assert (outcome.output_tail, outcome.output_bytes) == ("given\nin\nout\n", 13)


def test_output_to_a_terminal_is_kept_on_request(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    terminal.type(f"{RECORD} --output -- sh -c 'test -t 1 || echo no terminal'; echo code $?\n")
    terminal.wait_for(r"[\r\n]no terminal")
    terminal.wait_for(r"code 0")
    outcome = only_run(environ).outcome
    assert outcome is not None
    assert outcome.output_tail == "no terminal\n"


def test_what_nohup_ignores_is_not_passed_on(terminal: ShellTerminal) -> None:
    terminal.type(f"nohup {RECORD} -- {GUEST} | cat; echo done\n")
    ours = int(terminal.wait_for(r"ready \d+ (\d+)\r")[1])
    for name in ("SIGHUP", "SIGUSR1"):
        os.kill(ours, signal.Signals[name])
    terminal.wait_for(r"SIGUSR1 1")
    for number in range(1, 4):
        os.kill(ours, signal.SIGINT)
        terminal.wait_for(rf"SIGINT {number}")
    terminal.wait_for(r"done")
    assert "SIGHUP" not in terminal.text


def test_a_command_that_is_stopped_by_itself_is_recorded_on(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    """SIGSTOP is no key: the shell has no part in it."""
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    found = terminal.wait_for(r"ready (\d+) (\d+)\r")
    guest, ours = int(found[1]), int(found[2])
    stop(guest)
    os.kill(ours, signal.SIGUSR1)
    os.kill(guest, signal.SIGCONT)
    terminal.wait_for(r"SIGCONT 1|SIGUSR1 1")
    terminal.wait_for(r"SIGCONT 1|SIGUSR1 1")
    assert status(ours, "State")[0] != "T"
    for number in range(1, 4):
        os.kill(ours, signal.SIGINT)
        terminal.wait_for(rf"SIGINT {number}")
    terminal.wait_for(r"code 9")
    assert "Stopped" not in terminal.text
    assert only_run(environ).state == "complete"


def test_who_reads_in_the_background_stops_until_fg(terminal: ShellTerminal) -> None:
    terminal.type("set -b\n")
    terminal.type(f"{RECORD} -- sh -c 'read line; echo got $line; exit 4' &\n")
    terminal.wait_for(r"Stopped.*\n")
    terminal.type("fg; echo code $?\n")
    terminal.wait_for(r"record -- sh")
    terminal.type("some words\n")
    terminal.wait_for(r"got some words")
    terminal.wait_for(r"code 4")


def test_the_end_of_a_recording_can_be_interrupted(
    environ: dict[str, str], terminal: ShellTerminal
) -> None:
    """The command has exited, and its last frame does not come; its exit code does."""
    terminal.type(f"{RECORD} -- {GUEST}; echo code $?\n")
    found = terminal.wait_for(r"ready (\d+) (\d+)\r")
    guest, ours = int(found[1]), int(found[2])
    children = Path(f"/proc/{ours}/task/{ours}/children").read_text().split()
    (collector,) = (int(child) for child in children if int(child) != guest)
    stop(collector)
    for number in range(1, 4):
        terminal.type(CTRL_C)
        terminal.wait_for(rf"SIGINT {number} ")
    wait_until(lambda: not Path(f"/proc/{guest}").exists(), 60)
    terminal.type(CTRL_C)
    terminal.wait_for(r"interrupt again to leave its run unfinished")
    terminal.type(CTRL_C)
    terminal.wait_for(r"not completed: interrupted")
    os.kill(collector, signal.SIGCONT)
    terminal.wait_for(r"code 9")
    assert only_run(environ).state != "complete"
