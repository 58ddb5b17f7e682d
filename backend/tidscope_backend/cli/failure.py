"""How a verb fails: with a sentence for a person, and an exit code."""


class CommandError(Exception):
    """The verb cannot do its work; the text says why and what to do.

    Args:
        message: one sentence.
        code: exit code.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
