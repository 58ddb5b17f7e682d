"""Commands that ask a running tidscope: where they look for it, and what they say without it."""

import pytest
from fake_backend import TOKEN, FakeBackend
from tidscope_backend.cli import main
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, UntrustedError
from tidscope_backend.settings import BROWSER_VARIABLE
from tidscope_wire.generated.models import SizeAudit

COMMANDS = {
    "steer": (["steer", "--pid", "100"], ("POST", "/targets")),
    "prove": (["prove", "--pid", "100"], ("POST", "/targets")),
    "sweep": (["sweep", "--pid", "100"], ("POST", "/targets")),
    "sizes": (["sizes"], ("GET", "/sizes")),
}
"""A verb, to its arguments and its first request."""


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    backend = FakeBackend()
    backend.serve(monkeypatch, *COMMANDS)
    return backend


@pytest.mark.parametrize("verb", COMMANDS)
def test_without_a_token_nothing_is_asked(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
) -> None:
    monkeypatch.setenv(BROWSER_VARIABLE, "")
    assert main(COMMANDS[verb][0]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"tidscope {verb}: set {BROWSER_VARIABLE} to the token")
    assert (backend.opened, backend.requests) == ([], [])


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RefusedError("It is full; wait"), "It is full; wait"),
        (UntrustedError("Another program answers"), "Another program answers"),
        (
            UnavailableError("here: refused"),
            "no tidscope answers: here: refused; start one by `tidscope up`",
        ),
    ],
)
def test_why_it_cannot_be_done_is_said(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    error: Exception,
    sentence: str,
) -> None:
    arguments, first = COMMANDS[verb]
    backend.table[first] = error
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"tidscope {verb}: {sentence}\n")
    assert (backend.requests, backend.closed) == ([first], 1)


def test_the_backend_is_where_the_options_say(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table["GET", "/sizes"] = SizeAudit(programs=[], omitted=0)
    assert main(["sizes", "--host", "10.0.0.9", "--port", "9999"]) == 0
    assert main(["sizes"]) == 0
    assert backend.opened == [("10.0.0.9:9999", TOKEN), ("127.0.0.1:8787", TOKEN)]
    assert backend.closed == 2
    assert capsys.readouterr().out == 2 * "0 of 0 pools set wrong\n"
