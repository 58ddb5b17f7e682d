"""The threads that the Go runtime keeps for itself, in running programs."""

import pytest
from capabilities import needs
from processes import start_ticks, wait_until
from programs.contended import contended_go
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.reader import ask_go_threads


@needs("go")
@pytest.mark.parametrize("flags", [(), ("-buildmode=pie",)])
def test_sysmon_is_one_thread_of_a_go_program_and_not_its_first(flags: tuple[str, ...]) -> None:
    with contended_go(flags=flags) as program:
        ticks = start_ticks(program.pid)
        found: dict[int, str] = {}

        def seen() -> bool:
            found.update(ask_go_threads(program.pid, ticks))
            return bool(found)

        wait_until(seen)
        for _ in range(5):
            found |= ask_go_threads(program.pid, ticks)
    assert list(found.values()).count("sysmon") == 1
    assert program.pid not in found


@needs("go")
def test_a_program_without_symbols_says_so() -> None:
    with (
        contended_go(flags=("-ldflags=-s -w",)) as program,
        pytest.raises(NoAnswerError, match="no symbols"),
    ):
        ask_go_threads(program.pid, start_ticks(program.pid))
