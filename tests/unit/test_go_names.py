"""Names of the Go runtime's own threads: an answer without sysmon is none yet."""

import pytest
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.naming import source
from tidscope_collector.naming.source import GoNames


@pytest.mark.parametrize("found", [{}, {7: "template thread"}])
def test_it_is_asked_again_until_sysmon_was_seen(
    monkeypatch: pytest.MonkeyPatch, found: dict[int, str]
) -> None:
    monkeypatch.setattr(source, "ask_go_threads", lambda *_: found)
    names = GoNames(1, 2)
    with pytest.raises(NoAnswerError, match="sysmon"):
        names.read()
    found |= {8: "sysmon"}
    assert names.read() == found
