"""The switch of delay accounting on this machine's kernel; it is left as it was found."""

import subprocess
import sys
from pathlib import Path

from capabilities import delay_switch_kept, delays_are_on, missing, needs
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import DoctorReport

DOCTOR = (sys.executable, "-m", "tidscope_collector", "doctor", "--json")
AS_NOBODY = """
import os, sys
from tidscope_collector.__main__ import main
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
sys.argv = ["tidscope_collector", "doctor", "--json", "--delay-accounting", sys.argv[1]]
sys.exit(main())
"""

pytestmark = [needs("root"), needs("delay-accounting")]


def test_it_is_set_and_set_back() -> None:
    with delay_switch_kept():
        delays = DelayAccounting(ProcFs())
        for on in (True, False, True):
            delays.set(on)
            assert delays_are_on() is on
            assert delays.state() is on
            assert (delays.on_since_ns() is not None) is on


def test_by_the_command_line() -> None:
    with delay_switch_kept():
        for word, on in (("on", True), ("off", False)):
            done = subprocess.run(
                [*DOCTOR, "--delay-accounting", word], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            assert delays_are_on() is on
            report = DoctorReport.model_validate_json(done.stdout)
            (check,) = [one for one in report.checks if one.name == "delay-accounting"]
            assert check.enabled is on
            assert check.status == ("ok" if on else "limited")


def test_who_may_not_is_reported_so() -> None:
    """It has no effect, so nothing has to be set back."""
    other = "off" if delays_are_on() else "on"
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, other], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert "Permission denied" in done.stderr
    assert "sudo sysctl -w kernel.task_delayacct=" in done.stderr
    assert done.stdout == ""


def test_a_read_only_proc(tmp_path: Path) -> None:
    """As in a container; a mount namespace of its own, which ends with the process."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        raise missing("mount-namespace")
    script = (
        "mount --bind -o ro /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "
        f'exec "{sys.executable}" -c "$0"'
    )
    code = (
        "from tidscope_collector.procfs.delay_accounting import *\n"
        "from tidscope_collector.procfs.files import ProcFs\n"
        "try: DelayAccounting(ProcFs()).set(True)\n"
        "except SwitchRefusedError as error: print(error)"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Read-only file system" in done.stdout
