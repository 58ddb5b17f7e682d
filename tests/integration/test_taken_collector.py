"""Attempts of a taken-over collector against the fork server, which all fail.

The server has its full rights here, as with steering, and the asker writes what it likes to the
socket. Each attempt stands beside one that is answered, so that silence means a refusal.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from capabilities import needs
from processes import status
from taken_collector import OTHER_USER, SECRET, Taken, Victim, serving
from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.answering import PROCESS, Places
from tidscope_collector.inspection.asking import make_children
from tidscope_collector.inspection.process_files import hold_proc
from tidscope_collector.inspection.questions import questions
from tidscope_confinement import capabilities
from tidscope_processes import python_for

pytestmark = needs("root")


@pytest.fixture(scope="module")
def taken() -> Iterator[Taken]:
    made = Taken()
    yield made
    made.close()


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that the victim may run."""
    return python_for("nobody")


@pytest.fixture
def victim(python: str) -> Iterator[Victim]:
    with TemporaryDirectory() as folder:
        os.chown(folder, OTHER_USER, OTHER_USER)
        yield from serving(python, [f"{folder}/stream", f"{folder}/packets"])


def attempt_identities(victim: Victim) -> dict[str, dict[str, object]]:
    """Arguments to which each question answers something."""
    pid, start = victim.process.values()
    return {
        "processes": {"processes": [[pid, start, [1, 2, 3]]]},
        "gomaxprocs": dict(victim.process),
        "go_chosen": dict(victim.process),
        "go_environment": dict(victim.process),
        "ports": {"identities": [[pid, start]]},
        "port": {**victim.process, "port": 80},
        "sockets": {"identities": [[pid, start]]},
        "peers": {"identities": [[pid, start]]},
        "locked_file": {**victim.process, "file": "08:01:131"},
        "program": dict(victim.process),
        "agent_socket": dict(victim.process),
        "agent": {**victim.process, "timeout_s": 0.5},
        "prediction_service": {},
        "lock_addresses": {
            **victim.process,
            "addresses": [victim.memory],
            "join_place": 1,
            "waiters": [0],
        },
        "go_serving": dict(victim.process),
        "mutex_profile": {},
        "goroutine_profile": {},
        "readable_names": {},
        "prometheus_counter": {"metrics": ["requests_total"]},
        "prometheus_samples": {"metrics": ["requests_total"]},
        "java_blocked": dict(victim.process),
        "go_threads": dict(victim.process),
        "python_threads": dict(victim.process),
        "java_names": dict(victim.process),
        "java_counters": dict(victim.process),
        "arguments": dict(victim.process),
        "native_names": {
            **victim.process,
            **{"file_name": 1, "build_id": "ab" * 20, "addresses": [1], "lines": True},
        },
        "container_names": {"containers": ["ab" * 32], "users": [OTHER_USER]},
    }


OF_NO_PROCESS = {
    *("prediction_service", "mutex_profile", "goroutine_profile", "readable_names"),
    *("prometheus_counter", "prometheus_samples", "container_names"),
}


def test_every_question_is_answered_if_it_is_asked_as_it_should_be(
    taken: Taken, victim: Victim
) -> None:
    asked = attempt_identities(victim)
    assert asked.keys() == questions(Places()).keys()
    for question, arguments in asked.items():
        assert taken.try_to_get(question, **arguments), question


def test_no_answer_has_what_a_process_keeps_to_itself(taken: Taken, victim: Victim) -> None:
    assert victim.say((SECRET * 12)[:256].hex()) == "done"
    for question, arguments in attempt_identities(victim).items():
        answer = taken.try_to_get(question, **arguments)
        assert SECRET not in answer, question
        # An address of it would help others to attack it.
        assert str(victim.memory) not in answer.decode() or question == "lock_addresses"


WRONG: tuple[object, ...] = (
    *("/etc/shadow", "../1", "self"),
    *(-1, 1 << 70, 1e9, None, True, {}, [[]]),
)


def broken(arguments: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Arguments with one more, one less, and each value in them replaced by what names a file."""
    yield {**arguments, "root": "/"}
    for name, value in arguments.items():
        yield {key: one for key, one in arguments.items() if key != name}
        for wrong in WRONG:
            if wrong != value:
                yield {**arguments, name: wrong}
        if isinstance(value, list):
            row = value[0]
            for place in range(len(row) if isinstance(row, list) else 0):
                yield {**arguments, name: [[*row[:place], "/etc/shadow", *row[place + 1 :]]]}
            yield {**arguments, name: ["../" * 21 + "x"]}


@pytest.mark.parametrize("question", sorted(questions(Places())))
def test_no_argument_names_a_file(question: str, taken: Taken, victim: Victim) -> None:
    """All texts but ids of containers are refused, and so is every argument that is not listed."""
    for arguments in broken(attempt_identities(victim)[question]):
        assert taken.try_to_get(question, **arguments) == b"", arguments


@pytest.mark.parametrize("question", ["processes", "arguments", "go_program", "memory"])
def test_files_below_a_root_of_the_askers_are_not_read(
    question: str, taken: Taken, victim: Victim, tmp_path: Path
) -> None:
    pid, start = victim.process.values()
    (tmp_path / "secret").write_bytes(SECRET)
    made = tmp_path / "proc" / str(pid)
    made.mkdir(parents=True)
    (made / "stat").write_bytes(Path(f"/proc/{pid}/stat").read_bytes())
    for name in ("cmdline", "mem", "auxv", "environ"):
        (made / name).symlink_to(tmp_path / "secret")
    about: dict[str, object] = {"root": str(tmp_path / "proc"), "address": 0, "auxv": SECRET.hex()}
    about |= victim.process | {"processes": [[pid, start, None]]}
    wanted = {
        "processes": ("root", "processes"),
        "memory": ("root", *PROCESS, "address", "auxv"),
    }.get(question, ("root", *PROCESS))
    answer = taken.try_to_get(question, **{name: about[name] for name in wanted})
    assert answer == b""


def test_memory_at_an_address_of_the_askers_is_not_read(taken: Taken, victim: Victim) -> None:
    pid = victim.process["pid"]
    assert victim.say((SECRET * 12)[:256].hex()) == "done"
    auxv = Path(f"/proc/{pid}/auxv").read_bytes().hex()
    about: dict[str, object] = {"root": "/proc", "address": victim.memory, "auxv": auxv}
    for question in ("memory", "gomaxprocs"):
        for left in ({"root"}, set(), {"root", "auxv"}):
            more = {name: value for name, value in about.items() if name not in left}
            assert taken.try_to_get(question, **victim.process, **more) == b""
    # The target is no Go program, so the answering child has nothing to read.
    line, _, rest = taken.try_to_get("gomaxprocs", **victim.process).partition(b"\n")
    assert json.loads(line)["go"] is False
    assert rest == b""


def test_what_lies_at_a_locks_address_is_not_answered(taken: Taken, victim: Victim) -> None:
    """Whatever is written there, the answer is the same, and says no more than where it lies."""
    answers = []
    for content in ((SECRET * 12)[:256], bytes(range(255, -1, -1)), b"\x55" * 256):
        assert victim.say(content.hex()) == "done"
        addresses = [victim.memory + place for place in range(0, 256, 4)]
        about = {**victim.process, "addresses": addresses, "join_place": 0, "waiters": [0]}
        answers.append(taken.try_to_get("lock_addresses", **about))
    assert answers[0] == answers[1] == answers[2]
    found = [json.loads(line) for line in answers[0].splitlines()[1:-1]]
    assert [line["address"] for line in found] == addresses
    assert {(line["kind"], line["name"]) for line in found} == {("lock", "")}
    assert all(line["base"] == line["address"] for line in found)


def test_only_words_of_writable_memory_are_looked_at_for_locks(
    taken: Taken, victim: Victim
) -> None:
    maps = Path(f"/proc/{victim.process['pid']}/maps").read_text().splitlines()
    starts = [int(line.split("-")[0], 16) for line in maps if "rw" not in line.split()[1]]
    asked = [*starts[:100], *(victim.memory + odd for odd in (1, 2, 3))]
    about = {**victim.process, "addresses": asked, "join_place": 0, "waiters": [0]}
    lines = taken.try_to_get("lock_addresses", **about).splitlines()[1:-1]
    assert len(lines) == len(asked)
    for line in map(json.loads, lines):
        assert (line["kind"], line["name"], line["place"]) == ("unknown", "", "gone")


@pytest.mark.parametrize(("question", "kind"), [("agent", 0), ("prediction_service", 1)])
def test_a_socket_that_the_asker_names_is_not_connected_to(
    question: str, kind: int, taken: Taken, victim: Victim
) -> None:
    paths: dict[str, object] = {"paths": [victim.sockets[kind]]}
    named = {**paths, "timeout_s": 1.0}
    whose = {"root": "/proc", **victim.process, "uids": [OTHER_USER] * 4}
    for arguments in (named, named | whose, paths, whose):
        _, answer = taken.begin(question, arguments)
        with closing(answer):
            answer.settimeout(120)
            text, files, _, _ = socket.recv_fds(answer, 4096, 1)
        assert (text, files) == (b"", [])
    assert victim.had_no_visitor()


def test_of_a_process_without_an_agent_nothing_is_connected_to(
    taken: Taken, victim: Victim
) -> None:
    reply = json.loads(taken.try_to_get("agent", **victim.process, timeout_s=1))
    assert reply["trouble"] == "none"
    assert victim.had_no_visitor()


def test_variables_of_an_environment_are_not_chosen_by_the_asker(
    taken: Taken, victim: Victim
) -> None:
    for question in ("environment", "go_environment"):
        for root in ({"root": "/proc"}, {}):
            about = {**root, **victim.process, "names": ["SECRET"]}
            assert taken.try_to_get(question, **about) == b""
    found = json.loads(taken.try_to_get("go_environment", **victim.process))
    assert found == {"variables": {"GODEBUG": "asked=1"}}


def test_folders_of_containers_are_not_chosen_by_the_asker(taken: Taken, tmp_path: Path) -> None:
    number = "ab" * 32
    config = tmp_path / "containers" / number / "config.v2.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"ID": number, "Name": "/a-secret"}))
    folders = [[str(tmp_path), -1]] * 3
    for about in (
        {"names": [number], "folders": folders},
        {"containers": [number], "users": [], "folders": folders},
        {"containers": [f"../../..{tmp_path}/containers/{number}"], "users": []},
    ):
        assert taken.try_to_get("container_names", **about) == b""


def test_links_are_not_read_by_a_descriptors_name(
    taken: Taken, victim: Victim, tmp_path: Path
) -> None:
    """The name of a descriptor was a part of a path once."""
    with socket.create_server(("127.0.0.1", 0)) as mine:
        port, inode = mine.getsockname()[1], os.fstat(mine.fileno()).st_ino
        (tmp_path / "link").symlink_to(f"socket:[{inode}]")
        known = [[inode, f"../../..{tmp_path}/link"]]
        for root in ({"root": "/proc"}, {}):
            about = {**root, **victim.process, "port": port, "files": known}
            assert taken.try_to_get("port", **about) == b""
        refusal = json.loads(taken.try_to_get("port", **victim.process, port=port))["refusal"]
    assert "belongs to another process" in refusal


@pytest.mark.parametrize("question", sorted(questions(Places())))
def test_a_process_that_is_not_the_named_one_is_not_looked_at(
    question: str, taken: Taken, victim: Victim
) -> None:
    text = json.dumps(attempt_identities(victim)[question])
    start = victim.process["start_ticks"]
    earlier = json.loads(text.replace(str(start), str(start - 1)))
    if earlier == json.loads(text):
        assert question in OF_NO_PROCESS
        return
    answer = taken.try_to_get(question, **earlier)
    expected = {"at", "unreadable", "damaged", "refusal"}
    for line in map(json.loads, answer.splitlines()):
        nothing = line in ({"ports": []}, {"sockets": []}, {"peers": []}, {"path": ""})
        assert line.keys() <= expected or nothing, line


def test_only_a_java_machine_is_signalled(taken: Taken, victim: Victim) -> None:
    """SIGQUIT ends a program that does not catch it; the fixture sees that it lives."""
    reply = json.loads(taken.try_to_get("java_names", **victim.process))
    assert reply["trouble"] == "other"
    taken.send(json.dumps({"kill": victim.process["pid"]}).encode())
    assert taken.try_to_get("ports", identities=[])


def test_no_right_comes_back() -> None:
    with closing(Taken()) as taken:
        taken.keep([capabilities.SYS_PTRACE])
        assert taken.try_to_get("ports", identities=[])
        for more in ([*range(64)], [1 << 40], [-1], [True], ["1"], {"1": 1}):
            taken.send(json.dumps({"keep": more}).encode())
        assert taken.try_to_get("ports", identities=[])
        held = int(status(taken.server, "CapPrm")[0], 16)
        assert held & ~(1 << capabilities.SYS_PTRACE) == 0


def test_nonsense_does_not_end_the_fork_server() -> None:
    with closing(Taken()) as taken:
        assert taken.try_to_get("ports", identities=[])
        server = taken.server
        file = os.open(os.devnull, os.O_RDWR)
        for message in (
            b"x",
            b"[" * 50_000,
            b"[]",
            b"{}",
            b'{"id": 1}',
            b'{"id": "a", "question": "ports", "arguments": {}}',
            b'{"id": 1, "question": "none", "arguments": {}}',
            b'{"id": 1, "question": ["ports"], "arguments": {}}',
            b'{"kill": {}}',
            b'{"kill": 12345}',
            b"\xff" * 65_536,
        ):
            taken.send(message)
            taken.send(message, file, file)
        os.close(file)
        assert taken.try_to_get("ports", identities=[])
        assert taken.server == server


def test_a_proc_that_is_none_is_not_looked_at(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no process file system"):
        hold_proc(str(tmp_path), made=False)
    children = make_children(Places(proc=str(tmp_path)))
    with closing(children), suppress(ChildError):
        assert not children.ask(
            "ports", {"identities": []}, deadline_s=120, most_bytes=1 << 10
        ).data


def test_children_hold_the_proc_that_they_were_given(tmp_path: Path) -> None:
    """In a mount namespace in which another /proc is mounted over the one that was there."""
    script = f"""
import ctypes, json, os, subprocess, sys
sys.path[:0] = {sys.path!r}
from tidscope_collector.inspection.answering import Places
from tidscope_collector.inspection.asking import make_children
from tidscope_processes import python_for
from processes import start_ticks
me, start = os.getpid(), start_ticks(os.getpid())
made = make_children(Places())
ask = lambda: made.ask("arguments_" if 0 else "ports", {{"identities": [[me, start]]}},
                       deadline_s=120, most_bytes=4096)
import socket
mine = socket.create_server(("127.0.0.1", 0))
before = ask().data
subprocess.run(["mount", "-t", "tmpfs", "none", "/proc"], check=True)
assert not os.path.exists("/proc/self")
assert ask().data == before and b"[]" not in before, (before, ask())
print("held")
"""
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "held\n", done.stderr
