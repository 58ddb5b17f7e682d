"""Which processes get SIGQUIT so that they open an attach socket, and which never do."""

import os
from pathlib import Path

import pytest
from tidscope_collector.inspection.virtual_machine import Machine, look_at, obstacle

MAPS = "7f00-7f01 r-xp 00000000 08:01 1 /usr/lib/jvm/java-17/lib/server/libjvm.so\n"
J9 = "7f00-7f01 r-xp 00000000 08:01 1 /opt/j9/lib/default/libj9vm29.so\n"
CATCHES = "SigCgt:\t2000000181005ccf\n"
"""As a HotSpot machine has it; bit 2 is SIGQUIT."""
WITH_RS = "SigCgt:\t2000000180005ccb\n"
EVERYBODY = "         0          0 4294967295\n"


def machine(
    folder: Path,
    *,
    caught: str = CATCHES,
    maps: str = MAPS,
    command: str = "java\0Main\0",
    uid: int | None = None,
    uid_map: str = EVERYBODY,
) -> Machine:
    uid = os.geteuid() if uid is None else uid
    status = f"Name:\tjava\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nNSpid:\t7\t1\n{caught}"
    files = {"status": status, "maps": maps, "cmdline": command, "uid_map": uid_map}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "root").mkdir()
    return look_at(7, os.open(folder, os.O_RDONLY | os.O_DIRECTORY))


def test_a_machine_of_ours_may_be_asked(tmp_path: Path) -> None:
    found = machine(tmp_path)
    assert (found.pid, found.own_pid) == (7, 1)
    assert obstacle(found) == ""


@pytest.mark.parametrize(
    ("caught", "maps", "command", "why"),
    [
        (WITH_RS, MAPS, "java\0", "does not catch"),
        ("", MAPS, "java\0", "does not catch"),
        (CATCHES, "", "java\0", "no HotSpot"),
        (CATCHES, MAPS + J9, "java\0", "no HotSpot"),
        (CATCHES, MAPS, "java\0-XX:+DisableAttachMechanism\0", "DisableAttachMechanism"),
    ],
)
def test_who_must_not_be_asked(
    tmp_path: Path, caught: str, maps: str, command: str, why: str
) -> None:
    found = machine(tmp_path, caught=caught, maps=maps, command=command)
    assert why in obstacle(found)


@pytest.mark.parametrize(
    ("uid_map", "refused"),
    [
        (EVERYBODY, False),
        ("0 1000 1\n", True),
        ("0 1000 1\n1 100000 65536\n", True),
        ("", True),
    ],
)
def test_whoever_does_not_know_our_user_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid_map: str, refused: bool
) -> None:
    """It would not believe our file, and print a dump of its threads instead."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert bool(obstacle(machine(tmp_path, uid=1000, uid_map=uid_map))) == refused


def test_our_own_user_is_known_in_any_namespace(tmp_path: Path) -> None:
    own = os.geteuid()
    assert obstacle(machine(tmp_path, uid=own, uid_map=f"5 {own} 1\n")) == ""
