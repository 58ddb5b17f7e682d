"""Check that the lock files hold what the manifests ask for, and nothing else.

`python tools/check_locks.py [ROOT]`: package-lock.json repeats the dependencies of package.json,
each locked package has a hash, none an address of a registry; each requirement of pyproject.toml is
locked in a version that fits it; Cargo.lock names what Cargo.toml does, and each crate has a hash
and the index of crates.io as its source; each Go module that go.mod requires has its hashes in
go.sum, and none is replaced. Exits 1 and names what differs; `npm install`, `make lock`,
`cargo update -w` in sampler/ and `go get` in the folder of a go.mod fix it.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crates
import go_modules
from command_line import check_tree
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHON_LOCKS = {
    "requirements.lock": ("build",),
    "requirements-dev.lock": ("dev",),
    "requirements-fuzz.lock": ("fuzz",),
    "requirements-engines.lock": ("engines",),
}
"""Dependency groups in each lock."""
WITH_PROJECT = ("requirements.lock", "requirements-dev.lock")
"""Locks that hold the project's own dependencies as well."""

SAME_MEMBERS = ("name", "version", "license", "engines", "dependencies", "devDependencies")
_ADDRESS = re.compile(r"https?://|git\+|--index-url|--find-links")


def differences(root: Path) -> Iterator[str]:
    """Return all differences, one line each."""
    yield from _npm(root)
    project = tomllib.loads((root / "pyproject.toml").read_text())
    for lock, groups in PYTHON_LOCKS.items():
        asked = [one for group in groups for one in project["dependency-groups"][group]]
        if lock in WITH_PROJECT:
            asked += project["project"]["dependencies"]
        yield from _python(lock, (root / lock).read_text(), asked)
    yield from _cargo(root)
    for folder in go_modules.CARRIED:
        yield from _go(root, folder)


def _npm(root: Path) -> Iterator[str]:
    package: dict[str, Any] = json.loads((root / "package.json").read_text())
    packages: dict[str, dict[str, Any]] = json.loads((root / "package-lock.json").read_text())[
        "packages"
    ]
    for member in SAME_MEMBERS:
        if packages[""].get(member) != package.get(member):
            yield f"package-lock.json: {member} differs from package.json; run `npm install`"
    for where, locked in packages.items():
        if where and not locked.get("link") and "integrity" not in locked:
            yield f"package-lock.json: {where} has no hash"
        if "resolved" in locked:
            yield f"package-lock.json: {where} holds an address of a registry"


def _python(lock: str, text: str, asked: list[str]) -> Iterator[str]:
    if _ADDRESS.search(text):
        yield f"{lock} holds an address of a registry"
    locked: dict[str, set[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if line[:1].isalnum():
            requirement = Requirement(line.partition("--hash")[0])
            versions = {one.version for one in requirement.specifier if one.operator == "=="}
            locked.setdefault(canonicalize_name(requirement.name), set()).update(versions)
            if "--hash=sha256:" not in line:
                yield f"{lock}: {requirement.name} has no hash"
    for one in asked:
        wanted = Requirement(one)
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        versions = locked.get(canonicalize_name(wanted.name), set())
        if not any(wanted.specifier.contains(version) for version in versions):
            yield f"{lock} has no version of {one}; run `make lock`"


def _cargo(root: Path) -> Iterator[str]:
    manifest = tomllib.loads((root / crates.FOLDER / "Cargo.toml").read_text())
    own = manifest["package"]["name"]
    tables = ("dependencies", "dev-dependencies", "build-dependencies")
    places = (manifest, *manifest.get("target", {}).values())
    asked = {name for place in places for table in tables for name in place.get(table, ())}
    for package in crates.locked(root):
        name = package["name"]
        if name == own:
            held = {one.partition(" ")[0] for one in package.get("dependencies", ())}
            for differs in sorted(asked ^ held):
                yield f"{crates.LOCK}: {differs} differs from Cargo.toml; run `cargo update -w`"
            if package["version"] != manifest["package"]["version"]:
                yield f"{crates.LOCK}: another version of {own}; run `cargo update -w`"
            continue
        if package.get("source") != crates.INDEX:
            yield f"{crates.LOCK}: {name} comes from elsewhere than crates.io"
        if "checksum" not in package:
            yield f"{crates.LOCK}: {name} has no hash"


def _go(root: Path, folder: Path) -> Iterator[str]:
    if re.search(r"^replace\b", (root / folder / "go.mod").read_text(), re.MULTILINE):
        yield f"{folder}/go.mod replaces a module"
    hashes = go_modules.hashes(root, folder)
    for name, version in go_modules.locked(root, folder):
        for hashed in (version, f"{version}/go.mod"):
            if not hashes.get((name, hashed), "").startswith("h1:"):
                yield f"{folder}/go.sum: {name} {hashed} has no hash"


if __name__ == "__main__":
    sys.exit(check_tree(differences))
