"""Write NOTICE: what the built page and the wheel carry, with the licence of each part.

`python tools/notice.py` rewrites the file from the packages that the last build put into the page,
and from the crates of the sampler; with `--check` it writes nothing and exits 1 if it differs. The
page has to be built before.
"""

import json
import sys
from pathlib import Path
from typing import TypedDict

import crates
from command_line import make_file

LICENSES = Path("backend/tidscope_backend/web/licenses.json")
PACKAGES = Path("node_modules")
NOTICE = Path("NOTICE")
GPL_PARTS = (
    "collector/tidscope_collector/discovery/bpf",
    "collector/tidscope_collector/netacct/bpf",
    "kernel/patches",
)
"""Parts derived from the kernel or running inside it; the wheel carries the first two."""

HEAD = f"""\
tidscope
Copyright 2026 the tidscope authors

Licensed under the Apache License, Version 2.0 (LICENSE), except for these parts, which run inside
the Linux kernel or change it and are licensed under GPL-2.0-only (LICENSES/GPL-2.0-only.txt):
{"".join(f"{chr(10)}  {part}" for part in GPL_PARTS)}

Third-party software in the built page (tidscope_backend/web, which the wheel carries):
"""

CRATES = """\
Third-party software in the sampler (tidscope_sampler, which the wheel carries), beside the standard
library of Rust (Apache-2.0 OR MIT):
"""


class Package(TypedDict):
    """A package in the page, as the build lists it."""

    name: str
    version: str
    identifier: str
    text: str


def notice(root: Path) -> str:
    """Make the text of NOTICE.

    Raises:
        FileNotFoundError: the page is not built.
        SystemExit: a package in the page names no licence.
    """
    packages: list[Package] = json.loads((root / LICENSES).read_text())
    blocks = [HEAD]
    for package in sorted(packages, key=lambda each: each["name"]):
        if not package["identifier"] or not package["text"]:
            raise SystemExit(f"{package['name']} is in the page and names no licence")
        blocks.append(_block(package, root / PACKAGES / package["name"]))
    blocks.append(CRATES)
    for crate in crates.linked(root):
        blocks.append(_block(_of_crate(crate), crate.folder))
    return "\n".join(blocks)


def _of_crate(crate: crates.Crate) -> Package:
    """The crate under one of its licences: the project's, or else the one whose text it carries.

    Raises:
        SystemExit: there is none of which that is known.
    """
    choices = crate.licence.split(" OR ")
    identifier = "Apache-2.0" if "Apache-2.0" in choices else "MIT"
    files = [
        crate.folder / name for name in ("LICENSE-MIT", "LICENSE", "LICENSE.md", "license-mit")
    ]
    text = next((file.read_text() for file in files if file.is_file()), "")
    if identifier not in choices or not text:
        raise SystemExit(f"{crate.name} is in the sampler under {crate.licence or 'no licence'}")
    return Package(name=crate.name, version=crate.version, identifier=identifier, text=text)


def _block(package: Package, folder: Path) -> str:
    title = f"{package['name']} {package['version']} ({package['identifier']})"
    lines = ["-" * 80, title, "-" * 80]
    own = folder / "NOTICE"
    if own.is_file():
        lines += ["", "\n".join(own.read_text().strip().splitlines())]
    if package["identifier"] == "Apache-2.0":
        lines += ["", "Licensed under the Apache License, Version 2.0 (LICENSE)."]
    else:
        lines += ["", "\n".join(package["text"].strip().splitlines())]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(make_file(NOTICE, notice, __doc__))
