"""Users who could change code that root runs."""

import os
from pathlib import Path

import pytest
from capabilities import needs
from tidscope_backend.cli.collect import find_writable, installed_paths

pytestmark = needs("root")
USER = 1234


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of root's; folders of tests are in /tmp, which has the sticky bit."""
    folder = tmp_path / "opt" / "lib" / "package"
    folder.mkdir(parents=True, mode=0o755)
    return folder


def test_what_only_root_may_change_is_fine(package: Path) -> None:
    assert find_writable([package]) is None


@pytest.mark.parametrize("above", [0, 1, 2])
def test_a_users_folder_is_found_wherever_it_is_on_the_way(package: Path, above: int) -> None:
    folder = [package, *package.parents][above]
    os.chown(folder, USER, 0)
    found = find_writable([package])
    assert found is not None
    assert (found.path, found.who) == (folder, f"user {USER}")


@pytest.mark.parametrize(
    ("mode", "group", "who"),
    [(0o777, 0, "everybody"), (0o775, USER, f"group {USER}"), (0o775, 0, ""), (0o1777, 0, "")],
)
def test_modes_count(package: Path, mode: int, group: int, who: str) -> None:
    os.chown(package.parent, 0, group)
    package.parent.chmod(mode)
    found = find_writable([package])
    assert (found.who if found else "") == who


def test_links_are_followed_and_count_themselves(package: Path, tmp_path: Path) -> None:
    users = tmp_path / "home"
    users.mkdir()
    (users / "python").write_text("")
    os.chown(users, USER, 0)
    link = package / "python"
    link.symlink_to(users / "python")
    found = find_writable([link])
    assert found is not None
    assert found.path == users


def test_the_interpreter_and_every_package_are_looked_at() -> None:
    listed = {path.name for path in installed_paths()}
    packages = {"tidscope_backend", "tidscope_collector", "tidscope_wire", "tidscope_policies"}
    assert packages | {"site-packages"} <= listed
    assert any(name.startswith("python") for name in listed)
