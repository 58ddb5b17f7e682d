"""The check of the lock files in tools/."""

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
    "requirements-engines.lock",
    "sampler/Cargo.toml",
    "sampler/Cargo.lock",
    *(f"{folder}/{name}" for folder in ("stacks", "advisor") for name in ("go.mod", "go.sum")),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'source = "registry+https://github.com/rust-lang/crates.io-index"',
            'source = "registry+https://registry.example/index"',
            "autocfg comes from elsewhere than crates.io",
        ),
        (
            'source = "registry+https://github.com/rust-lang/crates.io-index"',
            'source = "git+https://registry.example/autocfg#0"',
            "autocfg comes from elsewhere than crates.io",
        ),
        ('checksum = "', 'was = "', "autocfg has no hash"),
        (' "libc",\n', "", "libc differs from Cargo.toml; run `cargo update -w`"),
    ],
)
def test_what_is_wrong_in_the_crates_lock_is_found(
    checkout: Path, old: str, new: str, said: str
) -> None:
    file = checkout / "sampler" / "Cargo.lock"
    text = file.read_text()
    start = text.index('name = "tidscope-sampler"') if "libc" in old else text.index("autocfg")
    file.write_text(text[:start] + text[start:].replace(old, new, 1))
    assert run_tool("check_locks.py", checkout) == (1, f"sampler/Cargo.lock: {said}\n")


@pytest.mark.parametrize("folder", ["stacks", "advisor"])
def test_a_go_module_without_its_hashes_is_found(checkout: Path, folder: str) -> None:
    file = checkout / folder / "go.sum"
    lines = file.read_text().splitlines(keepends=True)
    name = "golang.org/x/sync"
    file.write_text("".join(line for line in lines if not line.startswith(f"{name} ")))
    code, said = run_tool("check_locks.py", checkout)
    assert code == 1
    archive, manifest = said.splitlines()
    assert archive.startswith(f"{folder}/go.sum: {name} v") and archive.endswith(" has no hash")
    assert manifest == archive.replace(" has no", "/go.mod has no")


def test_a_replaced_go_module_is_found(checkout: Path) -> None:
    with (checkout / "stacks" / "go.mod").open("a") as file:
        file.write("\nreplace golang.org/x/sys => ../elsewhere\n")
    assert run_tool("check_locks.py", checkout) == (1, "stacks/go.mod replaces a module\n")
