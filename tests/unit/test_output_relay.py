"""Output of commands: the relay and its bounds."""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_backend.cli import output_relay
from tidscope_backend.cli.held_child import spawn_held
from tidscope_backend.cli.output_relay import (
    ARGUMENTS_NOT_STORED,
    NOT_STORED,
    TAIL_BYTES,
    Keeping,
    OutputTail,
    kept_by_default,
    leave_out,
    relayed_outputs,
)
from tidscope_backend.cli.relay import (
    ReceivedSignal,
    SignalQueue,
    blocked_signals,
    interrupted_twice,
    pass_on,
    relay_until_exit,
    stop_with,
)
from tidscope_wire.readiness import is_readable
from tidscope_wire.redaction import MARGIN, REDACTED, redact, redact_arguments


@pytest.fixture
def outputs() -> Iterator[tuple[int, int]]:
    """Standard output and standard error while other files stand in their places."""
    kept = os.dup(1), os.dup(2)
    yield 1, 2
    for descriptor, copy in zip((1, 2), kept, strict=True):
        os.dup2(copy, descriptor)
        os.close(copy)


def test_what_goes_to_no_terminal_is_relayed(outputs: tuple[int, int], tmp_path: Path) -> None:
    out, errors = outputs
    screen, terminal = pty.openpty()
    with (tmp_path / "one").open("wb") as one, (tmp_path / "other").open("wb") as other:
        os.dup2(one.fileno(), out)
        os.dup2(other.fileno(), errors)
        found = [relayed_outputs(keep=True), relayed_outputs(keep=False)]
        os.dup2(one.fileno(), errors)
        found.append(relayed_outputs(keep=True))
        os.dup2(terminal, errors)
        found += [relayed_outputs(keep=True), relayed_outputs(keep=True, terminals=True)]
        os.dup2(terminal, out)
        found += [relayed_outputs(keep=True), relayed_outputs(keep=True, terminals=True)]
        os.close(out)
        found.append(relayed_outputs(keep=True))
    for descriptor in (screen, terminal):
        os.close(descriptor)
    assert found == [[(1,), (2,)], [], [(1, 2)], [(1,)], [(1,), (2,)], [], [(1, 2)], []]


def test_a_process_that_is_left_behind_writes_on(outputs: tuple[int, int], tmp_path: Path) -> None:
    """The command exits at once; what it has started waits until then, and writes afterwards."""
    out, _ = outputs
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    reading, writing = os.pipe()
    os.dup2(writing, out)
    os.close(writing)
    child = spawn_held(["sh", "-c", f"(read line < {gate}; echo late) & echo early"], [(1,)])
    exited = relay_until_exit(child)
    os.close(out)
    assert exited.code == 0
    assert exited.tail is not None
    assert exited.tail.text() == "early\n"
    with gate.open("w") as opened:
        opened.write("go\n")
    with os.fdopen(reading, "rb") as written:
        assert written.read() == b"early\nlate\n"


def test_a_reader_that_has_gone_is_felt_by_the_command(outputs: tuple[int, int]) -> None:
    out, _ = outputs
    reading, writing = os.pipe()
    os.dup2(writing, out)
    os.close(writing)
    os.close(reading)
    exited = relay_until_exit(spawn_held(["sh", "-c", "while :; do echo y; done"], [(1,)]))
    assert exited.code == 128 + 13


def test_a_sink_that_does_not_block_loses_nothing(outputs: tuple[int, int]) -> None:
    """Another process that shares our output has made it so; its buffer is small."""
    out, _ = outputs
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    filled = is_readable(reading)
    assert filled
    sent = b"x" * 300_000
    received = bytearray()

    def read_all() -> None:
        while data := os.read(reading, 65536):
            received.extend(data)

    reader = threading.Thread(target=read_all)
    os.dup2(writing, out)
    os.close(writing)
    reader.start()
    output_relay._write(out, sent)
    os.close(out)
    reader.join()
    os.close(reading)
    assert received.endswith(sent)


def test_of_much_output_the_end_is_kept() -> None:
    tail = OutputTail(10)
    for text in (b"abcdef", b"ghij", b"klm"):
        tail.append(text)
    assert (tail.text(), tail.total, tail.cut) == ("defghijklm", 13, True)


SECRET = "hunter2-hunter2"
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD\n" * 300 + "-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text",
    [
        f"PGPASSWORD={SECRET} psql",
        f"env DB_PASS='{SECRET} {SECRET}' run",
        f"mysql --password {SECRET} -u root",
        f"mysql --password={SECRET}",
        f"java -Djavax.net.ssl.keyStorePassword={SECRET} -jar x.jar",
        f'{{"client_secret": "{SECRET}", "a": 1}}',
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"curl -H 'Authorization: Bearer {SECRET}' https://example.org",
        f"curl -H 'X-Api-Key: {SECRET}'",
        f"Authorization: Basic {SECRET}",
        f"git clone https://somebody:{SECRET}@example.org/x.git",
        f"git clone https://{SECRET}@example.org/x.git",
        f"GET /cb?access_token={SECRET}&x=1",
        f"http://127.0.0.1:8787/#token={SECRET}",
    ],
)
def test_values_of_secret_names_are_left_out(text: str) -> None:
    found = redact(text)
    assert SECRET not in found
    assert REDACTED in found
    assert found.split()[0].split("=")[0] == text.split(maxsplit=1)[0].split("=", maxsplit=1)[0]


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1" * 20,
        "glpat-" + "a1" * 10,
        "xoxb-" + "1" * 12 + "-abc",
        "sk_live_" + "a1" * 12,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
        "tds_" + "a" * 43,
        PEM,
        PEM.partition("\n")[2],
    ],
)
def test_tokens_of_well_known_forms_are_left_out(token: str) -> None:
    assert redact(f"\n{token}\n".lstrip() if token in PEM else f"x {token} y").count("a1") == 0
    assert token.strip() not in redact(f"{token} y")
    assert "QUJD" not in redact(token)


@pytest.mark.parametrize(
    "text",
    [
        "--max-tokens=100 --tokenizer=bpe --tokens 5",
        "sort --key=2 --sort-key name",
        "bypass=1 --passes 3 compass: north",
        "https://example.org/a@b?x=1",
        "/usr/bin/java -Xmx4g -cp /a/b.jar org.example.Main --config /etc/x.yaml",
        "basic usage: bearer",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redact(text) == text


def test_a_secret_may_be_the_next_argument() -> None:
    given = ["x", "--password", "a b", "--token", "--flag", "v", f"--api-key={SECRET}"]
    assert redact_arguments(given) == [
        *("x", "--password", REDACTED, "--token", "--flag", "v", f"--api-key={REDACTED}"),
    ]


def test_own_patterns_are_left_out_too() -> None:
    keeping = Keeping(arguments=True, output=True, patterns=[r"cust-\d+", "blue"])
    tail = OutputTail()
    tail.append(b"for cust-12 and a blue car\n")
    assert keeping.output_text(tail) == f"for {REDACTED} and a {REDACTED} car\n"
    assert keeping.argument_list(["run", "cust-3"]) == ["run", REDACTED]
    assert keeping.command_line("run cust-3") == f"run {REDACTED}"


def test_a_pattern_that_takes_for_ever_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidscope_backend.patterns.PATTERN_SECONDS", 0.5)
    assert leave_out(["(a+)+$"], ["a" * 64 + "b", "secret"]) == [NOT_STORED, NOT_STORED]


def test_what_is_not_kept() -> None:
    nothing = Keeping(arguments=False, output=False)
    tail = OutputTail()
    tail.append(b"secret")
    assert nothing.output_text(tail) is None
    assert nothing.argument_list(["run", "a", "b"]) == ["run"]
    assert nothing.command_line("run a b") == f"run {ARGUMENTS_NOT_STORED}"
    assert Keeping(arguments=True, output=True).command_line("run a b") is None


def test_a_secret_that_is_cut_in_two_does_not_stay() -> None:
    keeping = Keeping(arguments=True, output=True)
    # Only a part of the secret's name is left.
    for line in ("", "x" * 100 + "\n"):
        tail = OutputTail()
        tail.append(b"password=" + b"s" * 3000 + b"\n" + line.encode())
        tail.append(b"y" * (TAIL_BYTES + MARGIN - 2000 - len(line)))
        assert "s" not in (keeping.output_text(tail) or "")
    tail = OutputTail()
    tail.append(b"z" * 100_000)
    assert keeping.output_text(tail) == "z" * TAIL_BYTES


def test_defaults_are_settings() -> None:
    assert kept_by_default({}, "TIDSCOPE_RECORD_OUTPUT")
    assert not kept_by_default({"TIDSCOPE_RECORD_OUTPUT": "no"}, "TIDSCOPE_RECORD_OUTPUT")


BY_KERNEL, BY_PROCESS = 0x80, 0


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Writes the numbers of signals that it gets."""
    code = (
        "import signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "print('ready', flush=True)\n"
        "while True: print(int(signal.sigwait(signal.valid_signals())), flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == "ready\n"
        yield made
        made.kill()


def next_of(child: subprocess.Popen[str]) -> int:
    assert child.stdout is not None
    return int(child.stdout.readline())


def test_signals_wait_with_their_sender() -> None:
    """Signals of this thread only: another thread of the test runner would not block them."""
    with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
        signal.raise_signal(signal.SIGUSR2)
        signal.raise_signal(signal.SIGUSR1)
        received = queue.read()
        assert [one.number for one in received] == [signal.SIGUSR1, signal.SIGUSR2]
        assert [one.sender for one in received] == 2 * [os.getpid()]
        assert not any(one.from_kernel for one in received)
        assert queue.read() == []
    assert not {signal.SIGUSR1, signal.SIGUSR2} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ignored_signals_stay_ignored() -> None:
    """Ignored signals, as by nohup: a blocked one would wait nevertheless."""
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
            signal.raise_signal(signal.SIGUSR1)
            signal.raise_signal(signal.SIGUSR2)
            assert [received.number for received in queue.read()] == [signal.SIGUSR2]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_the_command_does_not_have_already_is_passed_on(child: subprocess.Popen[str]) -> None:
    with blocked_signals():
        for number, code, sender in (
            (signal.SIGINT, BY_KERNEL, 0),  # Ctrl-C: the terminal has sent it to both.
            (signal.SIGHUP, BY_KERNEL, 0),
            (signal.SIGTERM, BY_PROCESS, child.pid),  # Sent by the command to its group.
            (signal.SIGUSR1, BY_PROCESS, os.getpid()),
        ):
            pass_on(ReceivedSignal(number, code, sender), child.pid)
    assert next_of(child) == signal.SIGUSR1


def test_a_command_with_a_group_of_its_own_learns_of_the_end_of_the_terminal() -> None:
    # Under nohup we ignore it, and so would the child.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        child = subprocess.Popen(["sleep", "600"], process_group=0)
    finally:
        signal.signal(signal.SIGHUP, before)
    with child:
        # Ctrl-C came to our group, and not to that one.
        pass_on(ReceivedSignal(signal.SIGINT, BY_KERNEL, 0), child.pid)
        pass_on(ReceivedSignal(signal.SIGHUP, BY_KERNEL, 0), child.pid)
    assert child.returncode == -signal.SIGHUP


def test_a_second_interrupt_interrupts(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupt_often() -> None:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert capfd.readouterr().err == "again to end it\n"
        signal.raise_signal(signal.SIGINT)

    # A shell lets commands in its background ignore it, and so would we.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with pytest.raises(KeyboardInterrupt), interrupted_twice("again to end it"):
            interrupt_often()
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_child_that_has_exited_is_none_that_stops() -> None:
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        stop_with(ended.pid)
