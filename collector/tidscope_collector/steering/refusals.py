"""Refusals of steering, and their API problems."""

from collections.abc import Iterator
from contextlib import contextmanager

from tidscope_wire.problems import refusal


class NotSteerableError(Exception):
    """The target cannot be steered; the text is a sentence for people."""


class NotSteeredError(Exception):
    """No policy steers the target."""


class BadParameterError(Exception):
    """A requested value does not exist or is out of bounds; the text names it."""


class TooManyActionsError(Exception):
    """Actions follow each other faster than programs can adapt."""


@contextmanager
def refused_as_problems() -> Iterator[None]:
    """Convert steering errors to API problems.

    Raises:
        ProblemError: instead of the errors above.
    """
    try:
        yield
    except NotSteerableError as error:
        raise refusal(
            "not-steerable",
            str(error),
            "The Steer drawer and `tidscope steer --options` show what each knob and signal needs.",
        ) from error
    except BadParameterError as error:
        raise refusal(
            "bad-parameter",
            str(error),
            "The Steer drawer and `tidscope policies list` show the parameters and their bounds.",
        ) from error
    except NotSteeredError as error:
        raise refusal(
            "not-steered", "no policy steers this target", "Choose a policy first."
        ) from error
    except TooManyActionsError as error:
        raise refusal(
            "too-many-actions",
            "more actions on this target within 10 s than programs can follow",
            "Wait some seconds. A release always works.",
        ) from error
