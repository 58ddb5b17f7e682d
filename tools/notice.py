"""Write NOTICE: what the built page and the wheel carry, with the licence of each part.

`python tools/notice.py` rewrites the file from the packages that the last build put into the page,
from the crates of the sampler, the sources of libbpf, and the Go modules of the program that takes
stacks; with `--check` it writes nothing and exits 1 if it differs. The page has to be built before.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import crates
import go_modules
import libbpf_parts
from command_line import make_file

LICENSES = Path("backend/tidscope_backend/web/licenses.json")
PACKAGES = Path("node_modules")
NOTICE = Path("NOTICE")
GPL_PARTS = (
    "sampler/src/ledger/kernel_structs.bpf.h",
    "sampler/src/ledger/ledgers.bpf.h",
    "sampler/src/ledger/rounds.bpf.h",
    "sampler/src/ledger/sampled_stays.bpf.h",
    "sampler/src/ledger/stays.bpf.h",
    "sampler/src/ledger/takers.bpf.h",
    "sampler/src/ledger/throttling.bpf.h",
    "sampler/src/ledger/wait_kinds.bpf.h",
    "sampler/src/ledger/waits.bpf.c",
    "sampler/src/ledger/wake_ups.bpf.h",
    "sampler/src/network/netacct.bpf.c",
    "sampler/src/processes/groups.bpf.c",
    "sampler/src/slots/thread_slots.bpf.h",
    "sampler/src/slots/watched_processes.bpf.h",
    "sampler/src/walk/task_iterator.bpf.c",
    "stacks/bpf/filter.bpf.c",
    "kernel/patches",
)
"""Parts derived from the kernel or running inside it; the wheel carries all but the last, compiled,
within the sampler and the program that takes stacks."""
CRATE_LICENCES = ("Apache-2.0", "MIT", "ISC", "BSD-3-Clause", "Zlib", "Apache-2.0 AND ISC")
"""Licences of crates that the wheel may carry, the preferred ones first."""

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

LIBBPF = """\
Third-party software in the library that loads eBPF programs (tidscope_collector/ebpf/libbpf.so.1,
which the wheel carries):
"""

MODULES = """\
Third-party software in the program that takes stacks (tidscope_collector/stacks/tidscope-stacks,
which the wheel carries):
"""
GO = "The standard library and the runtime of Go"
GO_TEXT_OF = "golang.org/x/sys"
"""Module with the same text of the licence as Go itself."""
KERNEL_PROGRAMS = """\
Its eBPF programs (folder support/ebpf of the module), which the program carries compiled and loads
into the kernel, are licensed under GPL-2.0-only (LICENSES/GPL-2.0-only.txt). Their source code is
part of the module in this version: https://github.com/open-telemetry/opentelemetry-ebpf-profiler"""
_APACHE_ENDS = "limitations under the License."


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
    blocks.append(LIBBPF)
    for part in libbpf_parts.parts(crates.of_libbpf(root).folder):
        title = _title(f"{part.name} {part.version} ({part.licence})")
        blocks.append("\n".join([*title, "", part.text, ""]))
    blocks.append(MODULES)
    blocks += _module_blocks(go_modules.linked(root))
    return "\n".join(blocks)


def _of_crate(crate: crates.Crate) -> Package:
    """The crate under one of its licences: the first of `CRATE_LICENCES`, with its texts.

    Raises:
        SystemExit: there is none of these, or the crate carries no text.
    """
    choices = crate.licence.split(" OR ")
    identifier = next((one for one in CRATE_LICENCES if one in choices), "")
    files = sorted(file for file in crate.folder.iterdir() if file.name.upper().startswith("LICEN"))
    if len(choices) > 1:
        chosen = identifier.partition("-")[0].upper()
        files = [file for file in files if chosen in file.name.upper()] or files
    text = "\n\n".join(file.read_text().strip() for file in files)
    if not identifier or not text:
        raise SystemExit(f"{crate.name} is in the sampler under {crate.licence or 'no licence'}")
    return Package(name=crate.name, version=crate.version, identifier=identifier, text=text)


def _module_blocks(modules: list[go_modules.Module]) -> Iterator[str]:
    """Go and its modules, each text of a licence once."""
    (of_go,) = (module.text for module in modules if module.name == GO_TEXT_OF)
    yield "\n".join([*_title(f"{GO} (BSD-3-Clause)"), "", of_go, ""])
    printed = {of_go: GO}
    for module in modules:
        lines = _title(f"{module.name} {module.version} ({module.licence})")
        for own in sorted(module.folder.glob("NOTICE*")):
            lines += ["", own.read_text().strip()]
        text = module.text
        if module.licence.startswith("Apache-2.0"):
            lines += ["", "Licensed under the Apache License, Version 2.0 (LICENSE)."]
            text = text.rpartition(_APACHE_ENDS)[2].lstrip("\n- ")
        if "GPL-2.0-only" in module.licence:
            lines += ["", KERNEL_PROGRAMS]
        if "MPL-2.0" in module.licence:
            lines += ["", f"Its source code: https://{module.name}"]
        if text in printed:
            lines += ["", f"The text of the licence is above: {printed[text]}"]
        elif text:
            printed[text] = module.name
            lines += ["", text]
        yield "\n".join([*lines, ""])


def _title(text: str) -> list[str]:
    return ["-" * 80, text, "-" * 80]


def _block(package: Package, folder: Path) -> str:
    lines = _title(f"{package['name']} {package['version']} ({package['identifier']})")
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
