"""The Go modules that the program that takes stacks is linked from, as go.mod and go.sum lock them.

Modules that only tests of modules use are not part of what is compiled, and are left out.
"""

import base64
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("stacks")
CARRIED = (FOLDER, Path("advisor"))
"""Folders of the modules that the wheel carries: one compiled, one as sources."""

_PROCESSORS = ("amd64", "arm64")
_FORMAT = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"
_REQUIREMENT = re.compile(r"^(?:require\s+|\t)(\S+)\s+(v\S+)", re.MULTILINE)
_KERNEL_PROGRAMS = Path("support/ebpf/LICENSE")
_LICENCES = (
    ("Apache-2.0", ("Apache License", "Version 2.0")),
    ("MPL-2.0", ("Mozilla Public License, version 2.0",)),
    ("MIT", ("Permission is hereby granted, free of charge",)),
    ("BSD-3-Clause", ("Redistribution and use in source and binary forms", "Neither the name")),
    ("BSD-2-Clause", ("Redistribution and use in source and binary forms",)),
)
"""Licences by words that only their texts have; a module says its licence nowhere else."""


@dataclass(frozen=True, order=True)
class Module:
    """A Go module in the program.

    Attributes:
        name: module path.
        version: the locked version.
        licence: SPDX expression.
        folder: its unpacked source.
        sha256: hash of the hashes of its files, as go.sum has it, in hexadecimal digits.
        text: text of the licence.
    """

    name: str
    version: str
    licence: str
    folder: Path
    sha256: str
    text: str


def locked(root: Path, folder: Path) -> list[tuple[str, str]]:
    """Names and versions of all modules that the go.mod in a folder requires, in order."""
    return sorted(_REQUIREMENT.findall((root / folder / "go.mod").read_text()))


def hashes(root: Path, folder: Path) -> dict[tuple[str, str], str]:
    """Hashes in go.sum by name and version; that of a go.mod has `/go.mod` after the version."""
    lines = (line.split() for line in (root / folder / "go.sum").read_text().splitlines())
    return {(name, version): digest for name, version, digest in lines}


def linked(root: Path) -> list[Module]:
    """Modules that the program consists of on any processor, in order.

    Raises:
        SystemExit: Go is missing, a module cannot be fetched, or its licence is unknown.
    """
    known = hashes(root, FOLDER)
    found = {line for processor in _PROCESSORS for line in _listed(root, processor)}
    return [
        _module(name, version, Path(folder), known[name, version])
        for name, version, folder in sorted(found)
    ]


def _listed(root: Path, processor: str) -> Iterator[tuple[str, str, str]]:
    go = subprocess.run(
        [root / "tools" / "find-go"], stdout=subprocess.PIPE, text=True, check=False
    )
    if go.returncode:
        raise SystemExit(go.returncode)
    variables = {"GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0", "GOARCH": processor}
    listed = subprocess.run(
        [go.stdout.strip(), "list", "-mod=readonly", "-deps", "-f", _FORMAT, "."],
        cwd=root / FOLDER,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        raise SystemExit(listed.stderr.strip())
    for line in filter(None, listed.stdout.splitlines()):
        name, version, folder = line.split("\t")
        yield name, version, folder


def _module(name: str, version: str, folder: Path, digest: str) -> Module:
    """The module with what its files say of its licence.

    Raises:
        SystemExit: there is no text of a licence, or of one that is not on the list.
    """
    texts = [
        path.read_text().strip()
        for path in sorted(folder.iterdir())
        if path.name.upper().partition(".")[0] in ("LICENSE", "LICENCE")
    ]
    text = "\n\n".join(texts)
    # A module may hold parts under a second licence.
    licences = [licence for licence, words in _LICENCES if all(word in text for word in words)]
    if "BSD-3-Clause" in licences:
        licences.remove("BSD-2-Clause")  # The words of this licence are among those of the other.
    if not licences:
        raise SystemExit(f"{name} is in the program that takes stacks under no licence known here")
    # The unwinder carries its eBPF programs, which have a licence of their own.
    if (folder / _KERNEL_PROGRAMS).is_file():
        licences.append("GPL-2.0-only")
    return Module(name, version, " AND ".join(licences), folder, _hex(digest), text)


def _hex(digest: str) -> str:
    algorithm, _, encoded = digest.partition(":")
    assert algorithm == "h1", digest
    return base64.b64decode(encoded).hex()
