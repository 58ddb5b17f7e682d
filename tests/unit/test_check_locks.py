"""tools/check_locks.py: the lock files hold what is asked for."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tool_scripts import run_tool

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "package.json",
    "package-lock.json",
    "pyproject.toml",
    "requirements.lock",
    "requirements-dev.lock",
    "requirements-fuzz.lock",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change_json(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_the_locks_of_this_checkout_agree(checkout: Path) -> None:
    assert run_tool("check_locks.py", checkout) == (0, "")


@pytest.mark.parametrize("member", ["dependencies", "devDependencies"])
def test_a_dependency_that_is_not_locked_is_found(checkout: Path, member: str) -> None:
    change_json(checkout / "package.json", lambda package: package[member].update(added="^1.0.0"))
    code, said = run_tool("check_locks.py", checkout)
    assert code == 1
    assert said == f"package-lock.json: {member} differs from package.json; run `npm install`\n"


def test_an_address_and_a_missing_hash_in_the_page_lock_are_found(checkout: Path) -> None:
    def spoil(lock: dict[str, Any]) -> None:
        react = lock["packages"]["node_modules/react"]
        react["resolved"] = "https://registry.example/react.tgz"
        del react["integrity"]

    change_json(checkout / "package-lock.json", spoil)
    code, said = run_tool("check_locks.py", checkout)
    assert code == 1
    assert said == (
        "package-lock.json: node_modules/react has no hash\n"
        "package-lock.json: node_modules/react holds an address of a registry\n"
    )


@pytest.mark.parametrize(
    ("old", "new"), [('"uvicorn>=', '"uvicorn>=999.'), ('"uvicorn>=', '"not-locked>=')]
)
def test_a_requirement_without_a_fitting_version_is_found(
    checkout: Path, old: str, new: str
) -> None:
    file = checkout / "pyproject.toml"
    file.write_text(file.read_text().replace(old, new))
    code, said = run_tool("check_locks.py", checkout)
    assert code == 1
    first, second = said.splitlines()
    assert first.startswith("requirements.lock has no version of ")
    assert second.startswith("requirements-dev.lock has no version of ")


def test_an_address_in_a_python_lock_is_found(checkout: Path) -> None:
    file = checkout / "requirements.lock"
    file.write_text("--index-url https://registry.example/simple\n" + file.read_text())
    assert run_tool("check_locks.py", checkout) == (
        1,
        "requirements.lock holds an address of a registry\n",
    )
