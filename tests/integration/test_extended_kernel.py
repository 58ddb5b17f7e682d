"""The extended struct taskstats, on a kernel that was built with the patches and is booted here.

User-mode Linux runs as an ordinary process on this machine's files, so that the collector itself
reads the extended kernel. The first build takes some minutes; `kernel/build` keeps the result.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from capabilities import missing
from processes import wait_until
from programs.netmoves import CASES
from programs.netmoves import build as build_netmoves
from tidscope_wire.generated.models import DoctorReport

ROOT = Path(__file__).parents[2]
LIMITS = ("the_own_group_throttles", "a_group_above_throttles", "the_tightest_limit_counts")
CHECKS = (
    "profile_version_and_length_tell_the_layout",
    "the_marker_cannot_be_written",
    "sendfile_is_a_call_each_64_kib",
    "sendfile_of_datagrams_is_counted_once",
    "splice_between_two_sockets",
    "splice_of_local_sockets_is_not_counted",
    "raw_sockets_are_counted",
    "the_record_of_a_process_has_its_threads_and_not_its_children",
    "a_child_begins_at_zero_and_exec_goes_on",
    "a_zombie_keeps_its_numbers",
    "a_process_is_the_sum_of_its_threads_dead_ones_included",
    "the_sum_never_goes_back_while_threads_end",
)
SCRIPTS = ROOT / "tests" / "programs"
PROGRAMS = {
    "doctor": ("-m", "tidscope_collector", "doctor", "--json"),
    "limits": (str(SCRIPTS / "quota_checks.py"),),
    "checks": (str(SCRIPTS / "kernel_checks.py"),),
    "moves": (str(SCRIPTS / "netmoves.py"), "--network", "taskstats"),
}
"""Arguments of the interpreter in the guest: a boot takes longer than most of them."""
END = "--- end of"
pytestmark = pytest.mark.timeout(1500)  # Present since the first build of the kernel.
CANNOT = 3
"""Status of kernel/build where there is nothing to build it from."""


@pytest.fixture(scope="module")
def kernel() -> Path:
    """The executable that is the kernel."""
    built = subprocess.run([ROOT / "kernel/build"], capture_output=True, text=True, check=False)
    could = platform.machine() == "x86_64" and os.geteuid() == 0 and shutil.which("apt-get")
    if built.returncode == CANNOT and not could:
        raise missing("kernel-build", built.stderr.strip())
    assert built.returncode == 0, built.stderr
    if " amx_tile " in Path("/proc/cpuinfo").read_text():
        # It sets 2,696 bytes of registers; the host's kernel takes all of them or none (EFAULT).
        raise missing("kernel-boot", "user-mode Linux 6.1 has no room for the registers of AMX")
    return Path(built.stdout.strip())


def run(*words: str, options: Sequence[str] = (), folder: Path | None = None) -> tuple[int, str]:
    """Run a command in the guest; its status and all that it said."""
    done = subprocess.run(
        [ROOT / "kernel/run", *options, "--", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)} if folder else None,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def said(kernel: Path) -> dict[str, tuple[int, str]]:
    """Exit status and output of each of PROGRAMS, all run in one guest."""
    build_netmoves()
    script = "\n".join(
        f"{shlex.join([sys.executable, *words])} 2>&1; echo; echo {END} {name} $?"
        for name, words in PROGRAMS.items()
    )
    options = ("--time-limit", "900", "--writable", str(ROOT / ".cache"))
    _, text = run("sh", "-c", script, options=options)
    found = re.findall(rf"(.*?)\n{END} (\w+) (\d+)\n", text, re.DOTALL)
    results = {name: (int(status), said) for said, name, status in found}
    assert results.keys() == PROGRAMS.keys(), text
    return results


def cases(result: tuple[int, str]) -> dict[str, str]:
    """Reports of a script by case; unreported cases are absent."""
    status, said = result
    assert status in (0, 1), said
    lines = [line.partition(": ") for line in said.splitlines()]
    return {case: state for case, colon, state in lines if colon}


@pytest.fixture(scope="module")
def moves(said: dict[str, tuple[int, str]]) -> dict[str, str]:
    return cases(said["moves"])


@pytest.fixture(scope="module")
def checks(said: dict[str, tuple[int, str]]) -> dict[str, str]:
    return cases(said["checks"])


@pytest.mark.parametrize("case", CASES)
def test_the_collectors_numbers_agree_with_what_was_moved(case: str, moves: dict[str, str]) -> None:
    state, _, source = moves[case].partition(" [")
    assert state == "agrees"
    assert source.startswith("taskstats extended")


@pytest.mark.parametrize("check", CHECKS)
def test_the_kernel_keeps_its_word(check: str, checks: dict[str, str]) -> None:
    assert checks[check] == "agrees"


def test_no_check_is_left_out(checks: dict[str, str]) -> None:
    assert [name for name in checks if name in CHECKS or checks[name] == "agrees"] == list(CHECKS)


def test_cpu_limits_of_version_2_are_as_the_kernel_counts(said: dict[str, tuple[int, str]]) -> None:
    """Version 2 lacks the CPU controller where version 1 is mounted with it."""
    found = cases(said["limits"])
    assert {name: found[name] for name in LIMITS} == dict.fromkeys(LIMITS, "agrees")


def test_doctor_says_why_counters_are_not_walked_there(said: dict[str, tuple[int, str]]) -> None:
    """User-mode Linux has no perf events, hence no BPF_EVENTS and no task iterators."""
    status, text = said["doctor"]
    assert status == 0, text
    report = DoctorReport.model_validate_json(text[text.index("{") :])
    walk = next(check for check in report.checks if check.name == "walk")
    assert walk.status == "limited"
    assert "Counters are not walked" in walk.finding
    assert "asks for every thread by a request" in walk.impact
    taskstats = next(check for check in report.checks if check.name == "taskstats")
    assert taskstats.status == "ok"


def test_the_status_of_a_command_comes_out_and_the_hosts_files_cannot_be_written(
    kernel: Path, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    script = f"echo reported; (echo > {written}); exit 7"
    status, said = run("sh", "-c", script, folder=tmp_path)
    reported, refused = said.splitlines()
    assert (status, reported) == (7, "reported")
    assert refused.endswith("Read-only file system")
    assert not list(tmp_path.iterdir())


def test_a_guest_that_hangs_is_ended(kernel: Path, tmp_path: Path) -> None:
    status, said = run("sleep", "600", options=("--time-limit", "5"), folder=tmp_path)
    assert status == 124
    assert "did not end within 5 seconds" in said

    def is_gone() -> bool:
        paths = Path("/proc").glob("[0-9]*/cmdline")
        return not any(str(tmp_path).encode() in _read(path) for path in paths)

    wait_until(is_gone)
    assert not list(tmp_path.iterdir())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
