"""Profiles are fetched from this host only, and a missing toolchain is named."""

from pathlib import Path

import pytest
from tidscope_backend.cli import main
from tidscope_backend.locks import toolchain
from tidscope_backend.locks.waits import ProfileError, fetch, is_address


def test_an_address_is_no_file() -> None:
    assert is_address("http://127.0.0.1:6060/debug/pprof/mutex")
    assert not is_address("mutex.pprof")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://192.0.2.1:6060/debug/pprof/mutex", "not this host"),
        ("http://example.com:6060/debug/pprof/mutex", "not this host"),
        ("http:///debug", "not this host"),
        ("https://127.0.0.1:6060/debug/pprof/mutex", "is not http://"),
        ("http://127.0.0.1/debug/pprof/mutex", "is not http://"),
        ("http://127.0.0.1:1/debug/pprof/mutex", "does not answer"),
        ("http://[::1]:1", "does not answer"),
    ],
)
def test_an_address_elsewhere_is_refused(address: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=words):
        fetch(address, 1.0, tmp_path / "profile")
    assert not (tmp_path / "profile").exists()


def test_a_missing_toolchain_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(toolchain, "USUAL_PLACES", "/nowhere")
    assert main(["locks"]) == 1
    assert "there is no Go toolchain" in capsys.readouterr().err


def test_missing_sources_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "PLACES", (tmp_path,))
    with pytest.raises(toolchain.ToolchainError, match="lacks the sources"):
        toolchain.sources()


def test_a_missing_profile_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["locks", "--profile", str(tmp_path / "none.pprof")]) == 1
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--threshold", "--seconds"])
@pytest.mark.parametrize("number", ["0", "-1", "nan", "much"])
def test_numbers_are_above_zero(
    option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["locks", f"{option}={number}"])
    assert "is not a number above 0" in capsys.readouterr().err
