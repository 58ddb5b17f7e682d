"""The program that other tests measure does what it says."""

from pathlib import Path

from programs.known_work import EXIT_CODE, KnownWork


def tasks(pid: int) -> set[int]:
    return {int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()}


def test_the_burner_burns_what_was_asked_for() -> None:
    with KnownWork(burn_ms=50) as program:
        before = program.tids["burner"]
        burned = program.command("b").thread
        assert burned.tid == before
        # It looks at its clock now and then, which a busy machine charges with interrupts.
        assert 50e6 <= burned.cpu_ns < 90e6


def test_the_writer_writes_and_the_renamer_renames() -> None:
    with KnownWork(write_bytes=1_000_000) as program:
        assert program.command("w").thread.name == "writer"
        assert program.file.stat().st_size == 1_000_000
        assert program.command("r").thread.name == "renamed-1"
        assert program.command("r").thread.name == "renamed-2"


def test_short_threads_are_gone_when_they_are_reported() -> None:
    with KnownWork(short_threads=45, short_us=500) as program:
        shorts = program.command("s").threads
        assert len({short.tid for short in shorts}) == 45
        assert all(short.name == "short" and short.cpu_ns >= 500_000 for short in shorts)


def test_an_extra_thread_comes_and_goes() -> None:
    with KnownWork() as program:
        begun = program.command("n").thread
        assert begun.tid in tasks(program.pid)
        assert program.command("e").thread.tid == begun.tid


def test_the_main_thread_may_leave_and_the_program_still_ends_in_order() -> None:
    with KnownWork() as program:
        program.send("z")
        assert program.answer().event == "inherited"
        ended = program.command("q")
        assert {account.name for account in ended.threads} == {
            "burner",
            "writer",
            "renamer",
            "sleeper",
            "heir",
        }
        assert program.wait() == EXIT_CODE


def test_exec_keeps_the_process_and_ends_its_threads() -> None:
    with KnownWork() as program:
        before = set(program.tids.values())
        again = program.command("x")
        assert again.event == "ready"
        assert again.pid == program.pid
        assert before & {account.tid for account in again.threads} == {program.pid}


def test_the_process_account_covers_its_ended_threads() -> None:
    with KnownWork(short_threads=20, short_us=2000) as program:
        shorts = program.command("s")
        assert shorts.process.cpu_ns >= sum(short.cpu_ns for short in shorts.threads)
