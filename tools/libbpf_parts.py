"""The parts of the library that tools/build-libbpf compiles, with versions and licences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OF_LIBBPF = re.compile(r"^LIBBPF_(?:MAJOR|MINOR|PATCH)_VERSION := (\d+)", re.MULTILINE)
_OF_ELFUTILS = re.compile(r"^AC_INIT\(\[elfutils\],\[([\d.]+)\]", re.MULTILINE)
_OF_ZLIB = re.compile(r'^#define ZLIB_VERSION "([\d.]+)"', re.MULTILINE)
_ELFUTILS = """\
Licensed under the GNU Lesser General Public License (LICENSES/LGPL-3.0-or-later.txt), version 3 or
later, which is a set of permissions added to the GNU General Public License
(LICENSES/GPL-3.0-or-later.txt). Its source code: https://sourceware.org/elfutils, and the crate
libbpf-sys. tools/build-libbpf makes the library again, with another version of it."""


@dataclass(frozen=True)
class Part:
    """A library within the library.

    Attributes:
        name: its name.
        version: its version.
        licence: SPDX expression.
        text: text of the licence.
    """

    name: str
    version: str
    licence: str
    text: str


def parts(sources: Path) -> Iterator[Part]:
    """The parts.

    Args:
        sources: unpacked crate libbpf-sys.
    """

    def found(pattern: re.Pattern[str], path: str) -> str:
        return ".".join(pattern.findall((sources / path).read_text()))

    _, _, text = (sources / "libbpf/LICENSE.BSD-2-Clause").read_text().partition("License-Text:")
    version = found(_OF_LIBBPF, "libbpf/src/Makefile")
    yield Part("libbpf", version, "BSD-2-Clause", text.strip())
    version = found(_OF_ELFUTILS, "elfutils/configure.ac")
    yield Part("libelf of elfutils", version, "LGPL-3.0-or-later", _ELFUTILS)
    version = found(_OF_ZLIB, "zlib/zlib.h")
    yield Part("zlib", version, "Zlib", (sources / "zlib/LICENSE").read_text().strip())
