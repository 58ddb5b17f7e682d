"""The collector's side of the questions about what programs serve to Prometheus."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.line_answers import Line, ask_text, read_lines
from tidscope_collector.inspection.own_server import NotServedError
from tidscope_collector.inspection.prometheus_questions import PARSE_S
from tidscope_collector.inspection.prometheus_text import LONGEST_LINE, Sample
from tidscope_collector.inspection.reader import NoAnswerError


class _TotalLine(Line):
    total: float | None = Field(ge=0, allow_inf_nan=False)


class _SampleLine(Line):
    name: str = Field(max_length=LONGEST_LINE)
    labels: dict[str, str]
    value: Annotated[float, Field(strict=False)]


def ask_counter(text: bytes, name: str) -> float | None:
    """Sum of the samples of a counter, over all labels; None if there are none.

    Args:
        text: what the program serves.
        name: of the samples, such as http_requests_total.

    Raises:
        NotServedError: the text is not in Prometheus' format, has too many samples, or its parser
            does not answer.
    """
    try:
        asked = Arguments(metrics=[name])
        found = read_lines(ask_text("prometheus_counter", asked, PARSE_S, text), _TotalLine)
    except NoAnswerError as error:
        raise _not_served(error) from error
    return found[0].total if found else None


def ask_samples(text: bytes, names: Sequence[str]) -> list[Sample]:
    """Samples of some metrics, in the order of the text.

    Args:
        text: what the program serves.
        names: of the samples.

    Raises:
        NotServedError: as `ask_counter`.
    """
    try:
        asked = Arguments(metrics=list(names))
        found = read_lines(ask_text("prometheus_samples", asked, PARSE_S, text), _SampleLine)
    except NoAnswerError as error:
        raise _not_served(error) from error
    return [Sample(one.name, one.labels, one.value) for one in found]


def _not_served(error: NoAnswerError) -> NotServedError:
    return NotServedError(f"The target's answer is not read as Prometheus text. {error}")
