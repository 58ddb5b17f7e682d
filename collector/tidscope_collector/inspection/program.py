"""Which program a process runs, as a child sees it that may look into the process."""

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.conversation import Conversation
from tidscope_collector.inspection.reader import about_process, children

PATIENCE_S = 0.005
"""What a sample waits for an answer; one that is late is there for the next question."""
OPEN_S = 5.0
"""For the first answer: on a busy machine a child may wait 2 s for a CPU."""
_LINE_BYTES = 16384


class SeenProgram(BaseModel):
    """What a process runs.

    Attributes:
        executable: path; None if it may not be seen.
        stack: address at which its stack begins, another one in each execution; 0 if it may not be
            seen.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    executable: str | None = Field(max_length=8192)
    stack: int


class ProgramReader:
    """Asks about one process; one thread uses it at a time.

    Args:
        pid: of the process.
        start_ticks: its start.

    Raises:
        ChildError: no child can be asked.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        about = about_process(pid, start_ticks)
        self._conversation = Conversation(*children().begin("program", about), _LINE_BYTES)

    def look(self, patience_s: float = PATIENCE_S) -> SeenProgram | None:
        """What it runs now; None if the answer is late, or the process has ended."""
        if not self._conversation.request():
            return None
        try:
            return SeenProgram.model_validate_json(self._conversation.receive(patience_s))
        except ValidationError:
            return None

    def close(self) -> None:
        """End the child; twice does no harm."""
        self._conversation.close()


def open_program(pid: int, start_ticks: int) -> ProgramReader | None:
    """Make a reader; None where nothing can be seen that way either."""
    try:
        reader = ProgramReader(pid, start_ticks)
    except ChildError:
        return None
    found = reader.look(patience_s=OPEN_S)
    if found is None or not found.stack:
        reader.close()
        return None
    return reader
