"""Every part says under which licence it may be used, and NOTICE names what the page carries."""

import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path
from platform import machine
from typing import Any
from urllib.parse import urljoin

import pytest
from jsonschema import Draft7Validator
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[2]
EBPF = sorted((ROOT / "sampler" / "src").rglob("*.bpf.c"))
HEADERS = sorted((ROOT / "sampler" / "src").rglob("*.bpf.h"))


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
    # They refer to each other by the names of their files, below the address of the first.
    registry: Registry[Any] = Registry().with_resources(
        (urljoin(whole["$id"], name), Resource.from_contents(schema))
        for name, schema in schemas.items()
    )
    bom = json.loads((ROOT / "sbom.cdx.json").read_text())
    Draft7Validator(whole, registry=registry).validate(bom)
    carried = {component["purl"].partition("@")[0] for component in bom["components"]}
    assert {"pkg:npm/react", "pkg:npm/echarts", "pkg:pypi/fastapi", "pkg:pypi/pyroute2"} <= carried
    assert {"pkg:cargo/pyo3", "pkg:cargo/libc", "pkg:cargo/tungstenite"} <= carried
    tests = ("pytest", "vitest", "proptest")
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


def test_wheel_carries_licences_notice_bill_of_materials_and_page(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob(f"*-cp311-abi3-linux_{machine()}.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("licenses/LICENSE", "licenses/NOTICE", "licenses/LICENSES/GPL-2.0-only.txt"):
        assert any(name.endswith(wanted) for name in names), wanted
    assert {"tidscope_backend/web/index.html", "tidscope_sampler/native.abi3.so"} <= set(names)
    assert [name for name in names if name.endswith(".dist-info/sboms/sbom.cdx.json")]
