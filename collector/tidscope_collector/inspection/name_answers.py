"""The collector's side of the questions about names of threads."""

from pydantic import Field

from tidscope_collector.inspection.answering import PROGRAM_S
from tidscope_collector.inspection.line_answers import Line, ask_text, read_lines
from tidscope_collector.inspection.name_questions import NAMES_S
from tidscope_collector.inspection.reader import about_process
from tidscope_collector.inspection.thread_dump import LONGEST_NAME


class _NameLine(Line):
    tid: int = Field(ge=1, lt=1 << 32)
    name: str = Field(min_length=1, max_length=LONGEST_NAME)


def ask_java_names(pid: int, start_ticks: int) -> dict[int, str]:
    """Names of threads by their ids; see `name_questions.java_names`.

    Raises:
        NoAnswerError: the machine does not answer, or must not be asked; the text says why.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("java_names", about, NAMES_S), _NameLine)
    return {one.tid: one.name for one in found}


def ask_go_threads(pid: int, start_ticks: int) -> dict[int, str]:
    """Threads of the Go runtime by their ids; see `go_threads.go_threads`.

    Raises:
        NoAnswerError: the program does not answer, or has no symbols; the text says which.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("go_threads", about, PROGRAM_S), _NameLine)
    return {one.tid: one.name for one in found}
