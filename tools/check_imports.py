"""Check that imports point one way: between our Python packages, and between folders.

`python tools/check_imports.py [ROOT]` prints each import that is not on the lists below and each
cycle between folders, and exits 1 if there is one. A new direction is a decision: it is written
here, or it is not taken.
"""

import ast
import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGES = {
    "tidscope_collector": ("collector", {"tidscope_wire", "tidscope_policies"}),
    "tidscope_backend": ("backend", {"tidscope_wire", "tidscope_policies"}),
    "tidscope_wire": ("shared", set()),
    "tidscope_policies": ("shared", set()),
}
"""Our packages: the folder each lies in, and which of the others it may import."""

PURE = {
    "tidscope_policies": {
        *("collections", "dataclasses", "itertools", "math", "statistics", "typing", "zlib"),
        *("numpy", "pydantic"),
    },
}
"""Folders that import only themselves and these: no clock, no I/O, no chance."""

PAGE = {
    "main.tsx": {"app", "base", "live", "pages", "styles"},
    "app": {"api", "base", "model", "pages", "ui", "wire"},
    "pages": {"api", "base", "charts", "model", "ui", "wire"},
    "ui": {"base", "wire"},
    "charts": {"base", "model", "wire"},
    "api": {"base", "wire"},
    "live": {"base", "model", "wire"},
    "model": {"base", "wire"},
    "testing": {"api", "app", "base", "live", "model", "pages", "wire"},
    "wire": set[str](),
    "base": set[str](),
    "styles": set[str](),
}
"""Folders of frontend/src, and which others each may import; tests may import testing too."""

SOURCES = (".ts", ".tsx")
STATEMENT = re.compile(r"""(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*["']([^"'\n]+)["']""")


@dataclass(frozen=True)
class Import:
    """One import, between two groups (packages or folders)."""

    path: str
    line: int
    source: str
    wanted: str
    test: bool = False


def python_imports(root: Path) -> Iterator[Import]:
    """Imports of our packages' modules; source and wanted are dotted module names."""
    for package, (folder, _) in PACKAGES.items():
        for path in sorted((root / folder / package).rglob("*.py")):
            module = ".".join(path.relative_to(root / folder).with_suffix("").parts)
            name = path.relative_to(root).as_posix()
            for node in ast.walk(ast.parse(path.read_text(), name)):
                for line, wanted in _names(node, module):
                    if wanted.split(".")[0] in PACKAGES:
                        yield Import(name, line, module, wanted)


def _names(node: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            base = ".".join([*module.split(".")[: -node.level], *base.split(".")]).rstrip(".")
        yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
    elif isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        called = node.func.id if isinstance(node.func, ast.Name) else called
        first = node.args[0]
        if isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        named = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if called in ("import_module", "__import__") and named:
            yield node.lineno, str(getattr(first, "value", ""))


def page_imports(root: Path) -> Iterator[Import]:
    """Imports between folders of frontend/src; what lies outside it is the folder `..`."""
    top = root / "frontend" / "src"
    for path in sorted(path for path in top.rglob("*") if path.suffix in SOURCES):
        relative = path.relative_to(top)
        source = relative.parts[0]
        # A comment may show an import as an example.
        lines = [
            "" if line.lstrip().startswith(("*", "//", "/*")) else line
            for line in path.read_text().splitlines()
        ]
        text = "\n".join(lines)
        for match in STATEMENT.finditer(text):
            if match[1].startswith("."):
                to = posixpath.normpath(posixpath.join(relative.parent.as_posix(), match[1]))
                wanted = to.split("/")[0]
                line = text.count("\n", 0, match.start()) + 1
                name = path.relative_to(root).as_posix()
                if wanted != source:
                    yield Import(name, line, source, wanted, ".test." in path.name)


def check_packages(imports: list[Import]) -> Iterator[str]:
    """Packages import no other than they may, and their folders do not need each other."""
    folders: dict[str, dict[str, set[str]]] = {package: {} for package in PACKAGES}
    for found in imports:
        source, wanted = found.source.split("."), found.wanted.split(".")
        if source[0] == wanted[0]:
            ends = [part[1] if len(part) > 2 else "" for part in (source, wanted)]
            if all(ends) and ends[0] != ends[1]:
                folders[source[0]].setdefault(ends[0], set()).add(ends[1])
        elif wanted[0] not in PACKAGES[source[0]][1]:
            yield f"{found.path}:{found.line}: {source[0]} must not import {found.wanted}"
    for package, edges in folders.items():
        cycles = {frozenset(cycle): cycle for cycle in find_cycles(edges)}
        for cycle in cycles.values():
            yield f"{package}: folders import each other: {' -> '.join(cycle)}"


def check_pure(root: Path) -> Iterator[str]:
    """Folders that must be pure import themselves and what is listed, nothing else."""
    for module, allowed in PURE.items():
        package = module.split(".")[0]
        top = root / PACKAGES[package][0]
        for path in sorted((top / Path(*module.split("."))).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            here = ".".join(path.relative_to(top).with_suffix("").parts)
            for node in ast.walk(ast.parse(path.read_text(), name)):
                for line, wanted in _names(node, here):
                    name_of_package = wanted.split(".")[0]
                    inside = wanted == module or wanted.startswith(f"{module}.")
                    # Our other packages are check_packages' concern.
                    if not inside and name_of_package not in {*allowed, *PACKAGES}:
                        yield f"{name}:{line}: {module} is pure and must not import {wanted}"


def check_page(imports: list[Import], allowed: Mapping[str, set[str]] = PAGE) -> Iterator[str]:
    """Folders of the page import no other than they may; the list itself has no cycle."""
    for cycle in find_cycles(allowed):
        yield f"the list of directions has a cycle: {' -> '.join(cycle)}"
    for found in imports:
        if found.source not in allowed:
            yield f"{found.path}:{found.line}: {found.source} is not in tools/check_imports.py"
        elif found.test and found.wanted in ("testing", ".."):
            continue
        elif found.wanted not in allowed[found.source]:
            yield f"{found.path}:{found.line}: {found.source} must not import {found.wanted}"


def find_cycles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Ways that lead back to where they began, each once, the first node repeated at its end."""
    found: dict[frozenset[str], list[str]] = {}

    def follow(way: list[str]) -> None:
        for wanted in sorted(edges.get(way[-1], ())):
            if wanted in way:
                cycle = way[way.index(wanted) :]
                found.setdefault(frozenset(cycle), [*cycle, wanted])
            else:
                follow([*way, wanted])

    for start in sorted(edges):
        follow([start])
    return list(found.values())


def check(root: Path) -> list[str]:
    """All that is wrong in a source tree, one line each."""
    python, page = list(python_imports(root)), list(page_imports(root))
    if not python or not page:
        return [f"{root}: no imports found; the folders are not where they are looked for"]
    return [*check_packages(python), *check_pure(root), *check_page(page)]


def main() -> int:
    """Check the tree that is named, or this one."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    wrong = check(root)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
