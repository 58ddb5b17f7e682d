"""Every part says under which licence it may be used, and NOTICE names what the page carries."""

import json
import platform
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from capabilities import needs
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from tidscope_collector.stacks.program import PROGRAM
from tool_scripts import load_tool, write_tree

ROOT = Path(__file__).resolve().parents[2]
KERNEL_SIDES = (ROOT / "sampler" / "src", ROOT / "stacks" / "bpf")
EBPF = sorted(path for folder in KERNEL_SIDES for path in folder.rglob("*.bpf.c"))
HEADERS = sorted(path for folder in KERNEL_SIDES for path in folder.rglob("*.bpf.h"))


@needs("go")
@pytest.mark.parametrize("tool", ["notice.py", "sbom.py"])
def test_notice_and_bill_of_materials_list_what_is_locked_and_built(tool: str) -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_bill_of_materials_fits_the_schema_of_cyclonedx() -> None:
    folder = files("cyclonedx.schema") / "_res"
    names = [f"{name}.SNAPSHOT.schema.json" for name in ("bom-1.6", "spdx", "jsf-0.82")]
    schemas = {name: json.loads((folder / name).read_text()) for name in names}
    whole = schemas[names[0]]
    # Schemas refer to each other by file name, below the address of the first.
    registry: Registry[Any] = Registry().with_resources(
        (urljoin(whole["$id"], name), Resource.from_contents(schema))
        for name, schema in schemas.items()
    )
    bom = json.loads((ROOT / "sbom.cdx.json").read_text())
    Draft7Validator(whole, registry=registry).validate(bom)
    carried = {component["purl"].partition("@")[0] for component in bom["components"]}
    assert {"pkg:npm/react", "pkg:npm/echarts", "pkg:pypi/fastapi", "pkg:pypi/pyroute2"} <= carried
    assert {"pkg:cargo/pyo3", "pkg:cargo/libc", "pkg:cargo/libbpf-sys"} <= carried
    assert {"pkg:golang/golang.org/x/sys", "pkg:golang/github.com/cilium/ebpf"} <= carried
    tests = ("pytest", "vitest", "proptest", "testify")
    assert not [name for name in carried if any(test in name for test in tests)]


def test_manifests_name_the_licence_of_the_project() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert package["license"] == "Apache-2.0"
    assert project["license"] == "Apache-2.0 AND GPL-2.0-only"
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")


@pytest.mark.parametrize("source", EBPF, ids=lambda path: path.name)
def test_ebpf_source_is_licensed_as_the_kernel_needs(source: Path) -> None:
    text = source.read_text()
    assert text.startswith("// SPDX-License-Identifier: GPL-2.0-only\n")
    assert str(source.relative_to(ROOT)) in (ROOT / "NOTICE").read_text()
    # The kernel reads this licence and refuses GPL-only helpers to other programs.
    assert 'SEC("license") = "GPL"' in text


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_what_ebpf_sources_include_is_licensed_alike(header: Path) -> None:
    assert header.read_text().startswith("// SPDX-License-Identifier: GPL-2.0-only\n")
    assert str(header.relative_to(ROOT)) in (ROOT / "NOTICE").read_text()


def test_who_has_the_unwinder_learns_of_the_licence_of_its_ebpf_programs() -> None:
    name = "go.opentelemetry.io/ebpf-profiler"
    bom = json.loads((ROOT / "sbom.cdx.json").read_text())
    (unwinder,) = (one for one in bom["components"] if one["name"] == name)
    assert unwinder["licenses"] == [{"expression": "Apache-2.0 AND GPL-2.0-only"}]
    blocks = (ROOT / "NOTICE").read_text().split(f"{'-' * 80}\n")
    title = f"{name} {unwinder['version']} (Apache-2.0 AND GPL-2.0-only)\n"
    text = blocks[blocks.index(title) + 1]
    assert "LICENSES/GPL-2.0-only.txt" in text
    assert "source code" in text and "https://" in text


@pytest.fixture(scope="module")
def packed(wheel: Path) -> Iterator[zipfile.ZipFile]:
    """The contents of the wheel of this checkout."""
    with zipfile.ZipFile(wheel) as opened:
        yield opened


def test_wheel_carries_licences_notice_bill_of_materials_and_page(packed: zipfile.ZipFile) -> None:
    names = packed.namelist()
    for wanted in ("licenses/LICENSE", "licenses/NOTICE", "licenses/LICENSES/GPL-2.0-only.txt"):
        assert any(name.endswith(wanted) for name in names), wanted
    assert {
        "tidscope_backend/web/index.html",
        "tidscope_sampler/native.abi3.so",
        "tidscope_collector/ebpf/libbpf.so.1",
    } <= set(names)
    assert [name for name in names if name.endswith(".dist-info/sboms/sbom.cdx.json")]


@needs("stacks")
def test_wheel_carries_the_program_that_takes_stacks(packed: zipfile.ZipFile) -> None:
    program = packed.getinfo(f"tidscope_collector/stacks/{PROGRAM.name}")
    assert program.external_attr >> 16 & 0o111, "pip would install it without its mode"
    assert packed.read(program) == PROGRAM.read_bytes()


@pytest.mark.parametrize(
    ("sampler", "libbpf", "program", "said"),
    [
        (62, 62, 62, ""),
        (183, 183, None, ""),
        (183, 183, 62, "tidscope-stacks is for another processor"),
        (62, 183, 62, "libbpf.so.1 is for another processor"),
        (None, 62, 62, "native.abi3.so is missing"),
        (62, None, 62, "libbpf.so.1 is missing"),
        (8, 8, 8, "is for no processor"),
    ],
)
def test_programs_of_a_wheel_are_for_one_processor(
    tmp_path: Path, sampler: int | None, libbpf: int | None, program: int | None, said: str
) -> None:
    tag = load_tool("wheel_hook")
    numbers = {tag.SAMPLER: sampler, tag.LIBBPF: libbpf, tag.STACKS: program}
    for name, machine_number in numbers.items():
        if machine_number is not None:
            header = b"\x7fELF" + bytes(14) + machine_number.to_bytes(2, "little")
            write_tree(tmp_path, {str(name): ""})
            (tmp_path / name).write_bytes(header)
    if said:
        with pytest.raises(SystemExit, match=said):
            tag.programs_in(tmp_path)
    else:
        found = tag.programs_in(tmp_path)
        assert tag.machine_of(found[0]) in ("x86_64", "aarch64")


def test_programs_for_another_processor_lie_apart(tmp_path: Path) -> None:
    tag = load_tool("wheel_hook")
    here = platform.machine()
    assert tag.built_in(tmp_path, None) == tag.built_in(tmp_path, "") == tmp_path
    assert tag.built_in(tmp_path, here) == tmp_path
    assert tag.built_in(tmp_path, "another") == tmp_path / ".cache" / "another"
