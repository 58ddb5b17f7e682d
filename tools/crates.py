"""The crates that sampler and libbpf are made of, as cargo resolves sampler/Cargo.lock.

Crates of tests, of build scripts and of macros are not part of what is compiled, and are left out.
"""

import json
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path("sampler")
LOCK = FOLDER / "Cargo.lock"
INDEX = "registry+https://github.com/rust-lang/crates.io-index"
"""The only source of crates."""

LIBBPF = "libbpf-sys"
"""Crate with the sources that tools/build-libbpf compiles."""
_PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


@dataclass(frozen=True, order=True)
class Crate:
    """A crate.

    Attributes:
        name: its name on crates.io.
        version: the locked version.
        licence: SPDX expression.
        folder: its unpacked source.
        sha256: hash of the package.
    """

    name: str
    version: str
    licence: str
    folder: Path
    sha256: str


def locked(root: Path) -> list[dict[str, Any]]:
    """All packages of Cargo.lock, the sampler itself included."""
    packages: list[dict[str, Any]] = tomllib.loads((root / LOCK).read_text())["package"]
    return packages


def linked(root: Path) -> list[Crate]:
    """Crates that the sampler consists of on any processor, in order.

    Raises:
        SystemExit: cargo is missing, or says something else than the lock.
    """
    found: set[Crate] = set()
    for platform in _PLATFORMS:
        metadata = _metadata(root, "--features", "python", "--filter-platform", platform)
        found.update(_crates(root, _packages(metadata)))
    return sorted(found)


def of_libbpf(root: Path) -> Crate:
    """The crate with the sources of libbpf.

    Raises:
        SystemExit: cargo is missing, or says something else than the lock.
    """
    packages = _metadata(root)["packages"]
    (crate,) = _crates(root, [one for one in packages if one["name"] == LIBBPF])
    return crate


def _crates(root: Path, packages: list[dict[str, Any]]) -> Iterator[Crate]:
    hashes = {(one["name"], one["version"]): one.get("checksum", "") for one in locked(root)}
    for package in packages:
        yield Crate(
            package["name"],
            package["version"],
            # Old packages write a slash.
            (package["license"] or "").replace("/", " OR "),
            Path(package["manifest_path"]).parent,
            hashes[package["name"], package["version"]],
        )


def _metadata(root: Path, *options: str) -> dict[str, Any]:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", *options]
    command += ["--manifest-path", str(FOLDER / "Cargo.toml")]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit("cargo is missing: run tools/need-rust") from None
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    metadata: dict[str, Any] = json.loads(done.stdout)
    return metadata


def _packages(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Packages that the root depends on as it is compiled, without itself."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    found, left = set(), [root]
    while left:
        node = left.pop()
        if node in found:
            continue
        found.add(node)
        for dependency in nodes[node]["deps"]:
            kinds = [target["kind"] for target in packages[dependency["pkg"]]["targets"]]
            is_normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_normal and ["proc-macro"] not in kinds:
                left.append(dependency["pkg"])
    return [packages[node] for node in found - {root}]
