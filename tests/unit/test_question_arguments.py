"""Arguments of questions to limited children: what is not exactly as it should be is not asked."""

import math

import pytest
from tidscope_collector.inspection.answering import PROCESS, Arguments, taking

FITTING: Arguments = {
    "pid": 1,
    "start_ticks": 0,
    "processes": [(1, 0, None), (4_194_304, (1 << 64) - 1, (1, 2, -3))],
    "identities": [(1, 0)],
    "port": 65535,
    "timeout_s": 0.5,
    "addresses": [0, (1 << 64) - 1],
    "join_place": 0,
    "containers": ["0a" * 32],
    "metrics": ["http_requests_total"],
    "users": [0, 4_294_967_294],
}
OF_ANY: tuple[object, ...] = ("/etc/shadow", "1", -1, 1 << 64, math.nan, math.inf, None, True, {})
OF_LISTS: tuple[object, ...] = ([[]], ["../1"], [True], [-1], [[1, 0, "x"]], ["0A" * 32])
PLAIN: dict[str, object] = {
    name: [list(row) if isinstance(row, tuple) else row for row in value]
    if isinstance(value, list)
    else value
    for name, value in FITTING.items()
}
"""As JSON has them."""
PLAIN["processes"] = [[1, 0, None], [4_194_304, (1 << 64) - 1, [1, 2, -3]]]


@pytest.mark.parametrize("name", Arguments.__annotations__)
def test_a_value_out_of_its_range_is_refused(name: str) -> None:
    asked: list[Arguments] = []
    question = taking(lambda arguments, _: asked.append(arguments), name)
    question({name: PLAIN[name]}, 0)
    assert len(asked) == 1
    for wrong in (*OF_ANY, *OF_LISTS):
        with pytest.raises(ValueError, match="out of range"):
            question({name: wrong}, 0)


def test_a_question_takes_its_own_arguments_and_no_others() -> None:
    question = taking(lambda *_: pytest.fail("it was asked"), *PROCESS)
    fitting = {name: PLAIN[name] for name in PROCESS}
    wrong: tuple[object, ...] = (None, [], {}, {"pid": 1}, {**fitting, "root": "/"}, "pid")
    for arguments in wrong:
        with pytest.raises(ValueError, match="not the arguments"):
            question(arguments, 0)
