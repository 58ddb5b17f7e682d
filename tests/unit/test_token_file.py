"""The file in which a backend offers its token to its own user."""

import os
import signal
from pathlib import Path

import pytest
from tidscope_backend.security.token_file import find_token, offered_token
from tidscope_backend.settings import token_directory

PORT, TOKEN = 8787, "token-of-an-operator"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run" / "tidscope"


def test_it_is_found_while_it_is_offered_at_its_port(folder: Path) -> None:
    with offered_token(folder, PORT, TOKEN):
        assert find_token(folder, PORT) == TOKEN
        assert find_token(folder, PORT + 1) is None
        assert (folder.stat().st_mode & 0o777, os.listdir(folder)) == (0o700, [f"token-{PORT}"])
        assert (folder / f"token-{PORT}").stat().st_mode & 0o777 == 0o600
    assert find_token(folder, PORT) is None
    assert os.listdir(folder) == []


def test_what_a_killed_backend_left_is_not_found_and_replaced(folder: Path) -> None:
    ready, written = os.pipe()
    pid = os.fork()
    if pid == 0:
        with offered_token(folder, PORT, "token-of-a-dead-one"):
            os.write(written, b"x")
            signal.pause()
    os.read(ready, 1)
    assert find_token(folder, PORT) == "token-of-a-dead-one"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert (folder / f"token-{PORT}").exists()
    assert find_token(folder, PORT) is None
    with offered_token(folder, PORT, TOKEN):
        assert find_token(folder, PORT) == TOKEN


def test_a_file_that_others_may_read_or_a_link_is_not_trusted(folder: Path, tmp_path: Path) -> None:
    with offered_token(folder, PORT, TOKEN):
        path = folder / f"token-{PORT}"
        path.chmod(0o644)
        assert find_token(folder, PORT) is None
        path.chmod(0o600)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert find_token(folder, PORT) is None


def test_a_link_in_its_place_is_replaced_not_followed(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / f"token-{PORT}").symlink_to(victim)
    with offered_token(folder, PORT, TOKEN):
        assert find_token(folder, PORT) == TOKEN
    assert victim.read_text() == "precious"


def test_without_a_folder_nothing_is_offered(tmp_path: Path) -> None:
    with offered_token(None, PORT, TOKEN):
        assert find_token(None, PORT) is None
    blocked = tmp_path / "file"
    blocked.touch()
    with offered_token(blocked / "folder", PORT, TOKEN):
        assert find_token(blocked / "folder", PORT) is None


def test_the_folder_is_that_of_the_session_or_of_the_state(tmp_path: Path) -> None:
    given = {"XDG_RUNTIME_DIR": str(tmp_path), "XDG_STATE_HOME": "/state"}
    assert token_directory(given) == tmp_path / "tidscope"
    gone = {**given, "XDG_RUNTIME_DIR": str(tmp_path / "gone")}
    assert token_directory(gone) == Path("/state/tidscope")
