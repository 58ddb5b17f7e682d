"""`tidscope record`: a process, or a command from its first instruction to its end."""

import asyncio
import json
import os
import pty
import re
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from backend_server import TOKEN, Backend, running_backend
from capabilities import needs
from programs.build import build_go
from programs.known_work import Answer
from programs.known_work import build as known_work
from receiver import connected
from tidscope_backend.cli import main
from tidscope_backend.comparison.figures import totals_by_role, whole
from tidscope_backend.notebook import open_run
from tidscope_processes import CollectorProcess
from tidscope_wire.generated.models import RunManifest, TargetsResponse

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]


@dataclass
class Harness:
    """A backend with a collector, and where its runs lie."""

    backend: Backend
    runs: Path

    async def start(
        self, *arguments: str, stdin: int = asyncio.subprocess.DEVNULL, verb: str = "record"
    ) -> asyncio.subprocess.Process:
        """Start the command."""
        here = ("--port", str(self.backend.port)) if verb == "record" else ()
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tidscope_backend", verb, *here),
            *arguments,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_RUNS": str(self.runs)},
        )

    async def record(
        self, *arguments: str, text: bytes | None = None
    ) -> tuple[int, bytes, RunManifest]:
        """Record with --json; exit code, what stood on the other channel, and the manifest."""
        stdin = asyncio.subprocess.DEVNULL if text is None else asyncio.subprocess.PIPE
        process = await self.start("--json", *arguments, stdin=stdin)
        out, errors = await process.communicate(text)
        if "--" not in arguments:
            out, errors = errors, out
        assert process.returncode is not None
        *before, last = errors.strip().split(b"\n")
        assert last.startswith(b"{"), (errors, out)
        return process.returncode, out + b"".join(before), RunManifest.model_validate_json(last)

    async def ask(self, verb: str, *arguments: str) -> str:
        """Another verb, over the folder alone."""
        process = await self.start(*arguments, verb=verb)
        out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return out.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Harness]:
    """One backend with one collector; each test records runs of its own."""
    runs = tmp_path_factory.mktemp("runs")
    async with (
        running_backend(command_seconds=60, runs_dir=runs) as backend,
        CollectorProcess(backend.port),
    ):
        async with backend.page() as page:
            await connected(page)
        yield Harness(backend, runs)


async def test_how_commands_end(harness: Harness) -> None:
    for command, code, signalled in (
        (("true",), 0, None),
        (("sh", "-c", "echo out; echo err >&2; exit 3"), 3, None),
        (("sh", "-c", "kill -9 $$"), 137, "SIGKILL"),
    ):
        found, said, manifest = await harness.record("--name", "it", "--tag", "a", "--", *command)
        outcome = manifest.outcome
        assert outcome is not None
        assert (found, outcome.signal) == (code, signalled)
        assert outcome.exit_code == (None if signalled else code)
        assert outcome.command == list(command)
        assert (manifest.state, manifest.end, manifest.name) == ("complete", "target-ended", "it")
        assert manifest.tags == ["a"]
        assert outcome.max_rss_bytes > 0
        # The command lived for a moment; the run has it from its first instant to its end.
        assert manifest.target.process.name == command[0]
        (thread,) = open_run(harness.runs / manifest.id).threads().to_pylist()
        assert (thread["name"], thread["exited"], thread["exact"]) == (command[0], True, True)
        assert thread["last"]["minor_faults"] > thread["first"]["minor_faults"]
        if code == 3:
            assert said in (b"out\nerr\n", b"out\nerr")
            assert outcome.output_tail in ("out\nerr\n", "err\nout\n")
            assert outcome.output_bytes == 8


async def test_results_are_given_or_found_in_the_output(harness: Harness) -> None:
    metrics = ("ops=9435", r"tps:more=/tps = (\S+)/", r"gone=/(nowhere)/")
    options = [part for one in metrics for part in ("--metric", one)]
    script = "echo 'tps = 1.5'; echo 'tps = 812.25'"
    _, said, manifest = await harness.record(*options, "--no-output", "--", "sh", "-c", script)
    assert [(one.name, one.value, one.better) for one in manifest.results] == [
        ("ops", 9435, "more"),
        ("tps", 812.25, "more"),
    ]
    assert b"result gone: no line of the output matches" in said
    assert manifest.outcome is not None
    assert manifest.outcome.output_tail is None
    assert "results    ops 9435, tps 812.25" in await harness.ask("runs", "show", manifest.id)


async def test_secrets_of_a_command_are_not_stored(harness: Harness) -> None:
    secret = "hunter2-of-somebody"
    script = f"echo token={secret}; echo account-12; exec sleep 0.1 # --password {secret}"
    code, _, manifest = await harness.record("--redact", r"account-\d+", "--", "sh", "-c", script)
    text = (harness.runs / manifest.id / "manifest.json").read_text()
    assert code == 0
    assert manifest.outcome is not None
    assert manifest.outcome.output_tail == "token=[redacted]\n[redacted]\n"
    assert secret not in text
    assert "account-12" not in text


async def test_arguments_and_output_need_not_be_stored(harness: Harness) -> None:
    script = "echo written; exec sleep 0.1 # argument"
    code, said, manifest = await harness.record(
        "--no-arguments", "--no-output", "--", "sh", "-c", script
    )
    assert (code, said.strip()) == (0, b"written")
    assert manifest.outcome is not None
    assert (manifest.outcome.command, manifest.outcome.output_tail) == (["sh"], None)
    assert manifest.target.process.command == "sh [arguments not stored]"
    assert "# argument" not in (harness.runs / manifest.id / "manifest.json").read_text()
    assert set(open_run(harness.runs / manifest.id).processes()["title"].to_pylist()) == {""}


async def test_the_command_does_not_see_the_token(harness: Harness) -> None:
    _, said, _ = await harness.record("--", "env")
    assert b"PATH=" in said
    assert TOKEN.encode() not in said
    assert b"TIDSCOPE_" not in said


async def test_a_thread_and_a_run_cannot_steer_the_terminal(harness: Harness) -> None:
    thread, name = "\x1b]0;x\x07\n\x1b[2J", "\x1b[2J\u202erun\r"
    thread_shown, name_shown = r"\u001b]0;x\u0007\u000a\u001b[2J", r"\u001b[2J\u202erun\u000d"
    code = f"open('/proc/self/comm', 'w').write({thread!r})"
    before = {*harness.runs.glob("r-*")}
    process = await harness.start("--name", name, "--", sys.executable, "-c", code)
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    (path,) = {*harness.runs.glob("r-*")} - before
    assert open_run(path).threads()["name"].to_pylist() == [thread]
    for text, *shown in (
        (errors.decode(), name_shown),
        (await harness.ask("runs", "list"), name_shown),
        (await harness.ask("runs", "show", path.name), name_shown, thread_shown),
    ):
        assert all(each in text for each in shown)
        assert {character for character in text if not character.isprintable()} == {"\n"}
    listed = {one["id"]: one for one in json.loads(await harness.ask("runs", "list", "--json"))}
    assert listed[path.name]["name"] == name


async def test_threads_that_live_between_two_samples_are_there(
    harness: Harness, tmp_path: Path
) -> None:
    """Forty short threads, four long ones and the first one, and their CPU time in sum."""
    command = [
        str(known_work()),
        f"--file={tmp_path / 'written'}",
        "--burn-ms=100",
        "--short-threads=40",
        "--short-us=2000",
    ]
    code, said, manifest = await harness.record("--rate", "5", "--", *command, text=b"bsq")
    assert code == 7
    answers = [Answer.model_validate_json(line) for line in said.splitlines()]
    known = {one.tid for answer in answers for one in (*answer.threads, answer.process)}
    run = open_run(harness.runs / manifest.id)
    threads = run.threads()
    assert known <= set(threads["tid"].to_pylist())
    by_role = totals_by_role(threads)
    assert by_role["short"].lives == 40
    assert by_role["short"].fields["cpu_run_ns"] >= 40 * 2_000_000
    total = whole(by_role)
    assert total.lives == threads.num_rows
    (main,) = [row for row in threads.to_pylist() if row["tid"] == manifest.target.process.pid]
    at_start = main["first"]["cpu_run_ns"]
    # The process counts what it did before it became the program, too.
    assert total.fields["cpu_run_ns"] == pytest.approx(
        answers[-1].process.cpu_ns - at_start, rel=0.05, abs=5_000_000
    )
    exited = run.signals()["exited"].to_pylist()[-1]
    # Only sums get what a thread ran after its exit record had been read.
    late_ns = exited["totals"]["cpu_run_ns"] - total.fields["cpu_run_ns"] - at_start
    assert 0 <= late_ns < 5_000_000


@needs("btf")
async def test_descendants_of_a_command_are_in_its_run(harness: Harness) -> None:
    """Their CPU time adds up to what the kernel says of the command and its children."""
    one = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"
    command = ["sh", "-c", f"for n in 1 2 3; do sh -c '{one}'; done; (sh -c '{one}'); exit 5"]
    code, _, manifest = await harness.record("--", *command)
    group, outcome = manifest.target.group, manifest.outcome
    assert code == 5
    assert group is not None
    assert (group.kind, manifest.state, manifest.end) == ("tree", "complete", "target-ended")
    assert outcome is not None
    assert outcome.children_cpu_us is None  # The children are in the run.
    run = open_run(harness.runs / manifest.id)
    processes = run.processes().to_pylist()
    assert {one["name"] for one in processes} == {"sh"}
    assert sum(one["count"] for one in processes) == 5
    used_us = sum(one["cpu_ns"] for one in processes) / 1000
    whole_us = (outcome.user_cpu_us or 0) + (outcome.system_cpu_us or 0)
    assert used_us == pytest.approx(whole_us, rel=0.05, abs=20_000)
    assert len(set(run.threads()["pid"].to_pylist())) == 5


async def test_a_command_is_recorded_alone(harness: Harness) -> None:
    _, _, manifest = await harness.record("--no-children", "--", "sh", "-c", "sh -c : ; :")
    assert manifest.target.group is None
    assert open_run(harness.runs / manifest.id).threads().num_rows == 1
    assert manifest.outcome is not None
    assert manifest.outcome.children_cpu_us is not None


async def test_a_process_that_outlives_the_command_does_not_hold_its_run_up(
    harness: Harness,
) -> None:
    command = "sleep 600 <&- >&- 2>&- & echo $!"
    code, said, manifest = await harness.record("--", "sh", "-c", command)
    try:
        assert (code, manifest.state, manifest.end) == (0, "complete", "stopped")
    finally:
        os.kill(int(said), signal.SIGKILL)


@pytest.mark.parametrize(
    ("arguments", "least"),
    [
        (("--tree", "{pid}"), {"sh", "sleep"}),
        # The shell's copy that becomes sleep matches until it executes.
        (("--match", "name:sh command:wait_for_ever_{pid}"), {"sh"}),
    ],
)
async def test_a_group_for_some_time(
    harness: Harness, arguments: tuple[str, str], least: set[str]
) -> None:
    script = "exec sh -c 'sleep 600 & echo; wait; : wait_for_ever_'$$"
    child = await asyncio.create_subprocess_exec(
        *("sh", "-c", script), stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    await child.stdout.readline()
    given = [one.format(pid=child.pid) for one in arguments]
    try:
        code, _, manifest = await harness.record(*given, "--duration", "0.5")
        assert code == 0
        group = manifest.target.group
        assert group is not None
        assert manifest.target.process.pid == child.pid
        names = open_run(harness.runs / manifest.id).threads()["name"].to_pylist()
        assert least <= set(names) <= {"sh", "sleep"}
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        await child.communicate()


@needs("go")
async def test_a_go_program(harness: Harness) -> None:
    """The Go runtime's threads are recorded, and GOMAXPROCS is read before the program runs."""
    program = build_go(Path(__file__).parents[1] / "programs" / "threads.go")
    code, said, manifest = await harness.record("--", str(program), text=b"threads 6\n")
    assert code == 0
    assert said.splitlines()[0].startswith(b"ready ")
    assert manifest.target.process.runtime == "go"
    # Six that wait in the kernel, the first one, and those of the runtime.
    assert open_run(harness.runs / manifest.id).threads().num_rows >= 8


async def test_what_cannot_be_started(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for command, code, why in (
        ("no-such-program-here", 127, "No such file"),
        (str(plain), 126, "Permission denied"),
        (str(tmp_path), 126, "Permission denied"),
    ):
        found, errors = await refused("--", command)
        assert found == code
        assert f"{command} cannot be started: {why}" in errors


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--pid", "1", "--", "true"),
        ("--duration", "1", "--", "true"),
        ("--",),
        ("--pid", "1", "--tree", "1"),
        ("--unit", "cron.service", "--", "true"),
        ("--tree", "0"),
        ("--match", ""),
    ],
)
async def test_what_is_not_said_right(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["record", *arguments])
    assert "usage: tidscope record" in capsys.readouterr().err


async def refused(*arguments: str) -> tuple[int | None, str]:
    """Exit code and words of a command that finds out before it needs a backend."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "record"),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    return process.returncode, errors.decode()


async def test_signals_are_passed_on_and_output_comes_as_it_is_written(harness: Harness) -> None:
    script = "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    process = await harness.start("--", "sh", "-c", script)
    assert process.stdout is not None
    assert process.stderr is not None
    assert await process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert await process.stdout.read() == b"caught\n"
    text = (await process.stderr.read()).decode()
    assert await process.wait() == 5
    assert "exit code 5" in text
    assert re.search(r"busiest +[\d.]+ [mµ]?s  (sh|sleep)", text)
    assert "on disk" in text


async def test_a_terminal_that_interrupts_does_it_once(harness: Harness) -> None:
    """The command is in the terminal's foreground group with us, and gets Ctrl-C from there."""
    script = (
        "import signal, time\n"
        "caught = []\n"
        "signal.signal(signal.SIGINT, lambda *_: caught.append(1))\n"
        "print('ready', flush=True)\n"
        "while not caught: time.sleep(0.02)\n"
        "time.sleep(0.3)\n"
        "print('times', len(caught))\n"
    )
    ours, theirs = pty.openpty()
    launcher = (
        "import fcntl, os, sys, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "os.execvp(sys.argv[1], sys.argv[1:])\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", launcher),
        *(sys.executable, "-m", "tidscope_backend", "record"),
        *("--port", str(harness.backend.port), "--", sys.executable, "-c", script),
        stdin=theirs,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_RUNS": str(harness.runs)},
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        os.write(ours, b"\x03")
        assert await process.stdout.read() == b"times 1\n"
        assert await process.wait() == 0
    finally:
        os.close(ours)
        os.close(theirs)


async def test_a_process_for_some_time(harness: Harness) -> None:
    child = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        code, _, manifest = await harness.record("--pid", str(child.pid), "--duration", "2")
        assert code == 0
        assert (manifest.state, manifest.end) == ("complete", "duration")
        assert manifest.to_ns - manifest.from_ns > 300_000_000
        # Sampling ends with the recording: nobody else had attached to the target.
        async with harness.backend.program() as client:
            answer = (await client.get("/api/v1/targets")).content
        targets = TargetsResponse.model_validate_json(answer).targets
        (target,) = [one for one in targets if one.process.pid == child.pid]
        assert target.state == "detached"
        assert child.returncode is None
    finally:
        child.kill()
        await child.wait()
    process = await harness.start("--pid", str(child.pid))
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert f"{child.pid}" in errors.decode()
