"""The secrets of hosts in a file, and which host each of them speaks for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.security.collector_access import HostClaims
from tidscope_backend.security.host_file import MAX_HOST_IDS, HostFile, HostFileError
from tidscope_wire.generated.close_code import CloseCode

NOW = 1_000_000.0
A, B = "h-aaaaaaaaaaaa", "h-bbbbbbbbbbbb"
WEB, DB, DEFAULT = "collector:web", "collector:db", "collector:default"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "hosts.json"


@pytest.fixture
def file(path: Path) -> HostFile:
    made = HostFile(path)
    made.add("web", NOW)
    made.add("db", NOW)
    return made


def keys(file: HostFile, name: str, at: float = NOW) -> list[bytes]:
    entry = file.entries().get(name)
    return [] if entry is None else entry.keys(at)


def test_nobody_else_may_read_it(file: HostFile, path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert len({key for name in ("web", "db") for key in keys(file, name)}) == 2


def test_a_file_that_others_may_read_is_not_used(file: HostFile, path: Path) -> None:
    path.chmod(0o640)
    with pytest.raises(HostFileError, match="others may use it"):
        HostFile(path).entries()


def test_a_file_of_somebody_else_is_not_used(file: HostFile, path: Path) -> None:
    os.chown(path, 65534, -1)
    with pytest.raises(HostFileError, match="another user"):
        HostFile(path).entries()


@pytest.mark.parametrize("text", ["", "{}", "[{}]", '[{"name":"a","key":"xy","added_unix_s":1}]'])
def test_a_damaged_file_is_named(file: HostFile, path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(HostFileError, match="is not a file of hosts"):
        file.entries()


def test_a_link_is_not_followed(file: HostFile, path: Path, tmp_path: Path) -> None:
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostFileError):
        HostFile(path).entries()


def test_a_change_by_another_process_is_noticed(file: HostFile, path: Path) -> None:
    before = keys(file, "web")
    other = HostFile(path)
    other.rotate("web", NOW, 60)
    assert keys(file, "web")[1:] == before
    other.revoke("web")
    assert keys(file, "web") == []
    assert keys(file, "db") != []


def test_an_old_key_is_good_until_its_grace_ends(file: HostFile) -> None:
    old = keys(file, "web")
    new = file.rotate("web", NOW, 60)
    assert keys(file, "web", NOW + 59) == [new, *old]
    assert keys(file, "web", NOW + 60) == [new]
    newest = file.rotate("web", NOW, 0)
    assert keys(file, "web") == [newest]


def test_names_are_added_once_and_have_to_exist(file: HostFile) -> None:
    with pytest.raises(HostFileError, match="rotate web"):
        file.add("web", NOW)
    for change in (lambda: file.rotate("x", NOW, 0), lambda: file.revoke("x")):
        with pytest.raises(HostFileError, match="no host x"):
            change()


def apart(_: str) -> bool:
    return False


def claim(
    claims: HostClaims, subject: str, host_id: str, connected: Callable[[str], bool] = apart
) -> str:
    """Empty if it is let through; else why not."""
    try:
        claims.claim(subject, host_id, connected)
    except CloseError as error:
        assert error.code == CloseCode.WRONG_HOST
        return error.reason
    return ""


def test_a_host_belongs_to_the_first_secret_that_spoke_for_it(file: HostFile, path: Path) -> None:
    claims = HostClaims(file)
    assert claim(claims, WEB, A) == ""
    assert claim(claims, DB, A) == f"host {A} has the secret of {WEB}, not of {DB}"
    assert WEB in claim(claims, DEFAULT, A)
    # After a restart of the backend, too.
    restarted = HostClaims(HostFile(path))
    assert WEB in claim(restarted, DB, A)
    assert claim(restarted, WEB, A) == ""


def test_a_secret_is_of_one_host_at_a_time(file: HostFile) -> None:
    claims = HostClaims(file)
    claim(claims, WEB, A)
    refused = claim(claims, WEB, B, lambda host_id: host_id == A)
    assert refused == f"the secret of {WEB} is of host {A}, not {B}"
    # A boot later the same machine has another id; what it had stays its own.
    assert claim(claims, WEB, B) == ""
    assert WEB in claim(claims, DB, A)


def test_the_secret_in_the_environment_is_of_one_host_as_well(file: HostFile) -> None:
    for claims in (HostClaims(None), HostClaims(file)):
        assert claim(claims, DEFAULT, A) == ""
        assert DEFAULT in claim(claims, DEFAULT, B, lambda host_id: host_id == A)
    assert DEFAULT in claim(claims, WEB, A)


def test_a_revoked_host_can_be_added_again(file: HostFile) -> None:
    claims = HostClaims(file)
    claim(claims, WEB, A)
    file.revoke("web")
    assert claim(claims, DB, A) == ""


@pytest.mark.parametrize("subject", [WEB, DEFAULT])
def test_what_is_remembered_is_bounded(file: HostFile, subject: str) -> None:
    claims = HostClaims(file)
    for number in range(3 * MAX_HOST_IDS):
        assert claim(claims, subject, f"h-{number:012x}") == ""
    first, last = f"h-{0:012x}", f"h-{3 * MAX_HOST_IDS - 1:012x}"
    assert subject in claim(claims, DB, last)
    assert claim(claims, DB, first) == ""
