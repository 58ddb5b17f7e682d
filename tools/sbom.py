"""Write sbom.cdx.json: what tidscope installs and carries, as a CycloneDX bill of materials.

Four kinds of components: the packages that the last build put into the page, with the hash that
package-lock.json holds them to; the crates that the sampler is made of, and the one with the
sources of libbpf, libelf and zlib, with those of Cargo.lock;
the Go modules in the program that takes stacks, with those of go.sum, each a hash of the hashes of
all files; and the Python packages of requirements.lock, each with the hashes of the files that may
be installed. The wheel carries the file (PEP 770). `python tools/sbom.py` rewrites it; with
`--check` it writes nothing and exits 1 if the file differs. The page has to be built before.
"""

import base64
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import crates
import go_modules
import libbpf_parts
from command_line import make_file
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.bom_ref import BomRef
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path("backend/tidscope_backend/web/licenses.json")
SBOM = Path("sbom.cdx.json")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill_of_materials(root: Path) -> str:
    """Make the text of sbom.cdx.json; equal inputs give equal bytes.

    Raises:
        FileNotFoundError: the page is not built.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    whole = _component(
        "pypi", project["name"], project["version"], project["license"], ComponentType.APPLICATION
    )
    carried = [*_of_page(root), *_of_sampler(root), *_of_stacks(root)]
    python = list(_of_lock(root))
    bom = Bom(components=[*carried, *python])
    bom.metadata.component = whole
    direct = {canonicalize_name(Requirement(each).name) for each in project["dependencies"]}
    bom.register_dependency(whole, [*carried, *(each for each in python if each.name in direct)])
    made = json.loads(JsonV1Dot6(bom).output_as_string())
    # Serial number and timestamp differ at each build.
    del made["serialNumber"], made["metadata"]["timestamp"]
    return json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _of_page(root: Path) -> Iterator[Component]:
    """Packages in the built page."""
    locked = json.loads((root / "package-lock.json").read_text())["packages"]
    for package in json.loads((root / PAGE).read_text()):
        name = package["name"]
        component = _component("npm", name, package["version"], package["identifier"])
        algorithm, _, digest = locked[f"node_modules/{name}"]["integrity"].partition("-")
        assert algorithm == "sha512", f"{name}: {algorithm}"
        component.hashes = [HashType(alg=HashAlgorithm.SHA_512, content=_hex(digest))]
        yield component


def _of_sampler(root: Path) -> Iterator[Component]:
    """Crates in the sampler, and that of libbpf."""
    library = crates.of_libbpf(root)
    parts = list(libbpf_parts.parts(library.folder))
    licences = {library.name: " AND ".join(part.licence for part in parts)}
    for crate in (*crates.linked(root), library):
        licence = licences.get(crate.name, crate.licence)
        component = _component("cargo", crate.name, crate.version, licence)
        if crate == library:
            carried = ", ".join(f"{part.name} {part.version}" for part in parts)
            component.description = f"sources of {carried}"
        component.hashes = [HashType(alg=HashAlgorithm.SHA_256, content=crate.sha256)]
        yield component


def _of_stacks(root: Path) -> Iterator[Component]:
    """Go modules in the program that takes stacks."""
    for module in go_modules.linked(root):
        component = _component("golang", module.name, module.version, module.licence)
        component.hashes = [HashType(alg=HashAlgorithm.SHA_256, content=module.sha256)]
        yield component


def _of_lock(root: Path) -> Iterator[Component]:
    """Packages of requirements.lock, with the hashes of all their files."""
    text = (root / "requirements.lock").read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        requirement = Requirement(line.partition("--hash")[0])
        (exact,) = requirement.specifier
        name = canonicalize_name(requirement.name)
        component = _component("pypi", name, exact.version, None)
        files = [HashType(alg=HashAlgorithm.SHA_256, content=one) for one in _HASH.findall(line)]
        component.external_references = [
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(f"https://pypi.org/project/{name}/{exact.version}/#files"),
                hashes=files,
            )
        ]
        if requirement.marker is not None:
            component.description = f"installed where {requirement.marker}"
        yield component


def _component(
    kind: str,
    name: str,
    version: str,
    licence: str | None,
    what: ComponentType = ComponentType.LIBRARY,
) -> Component:
    namespace, _, last = name.rpartition("/")
    url = PackageURL(kind, namespace or None, last, version)
    return Component(
        name=name,
        version=version,
        type=what,
        purl=url,
        bom_ref=BomRef(url.to_string()),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )


def _hex(digest: str) -> str:
    return base64.b64decode(digest).hex()


if __name__ == "__main__":
    sys.exit(make_file(SBOM, bill_of_materials, __doc__))
