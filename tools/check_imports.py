"""Check that imports point one way: between our Python packages, between folders, between files.

`python tools/check_imports.py [ROOT]` prints each import that is not on the lists below and each
cycle between folders or files, imports of types included, and exits 1 if there is one. A new
direction is a decision: it is written here, or it is not taken.
"""

import ast
import posixpath
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from command_line import check_tree

PACKAGES = {
    "tidscope_collector": (
        "collector",
        {"tidscope_confinement", "tidscope_wire", "tidscope_policies", "tidscope_predictd"},
    ),
    "tidscope_backend": (
        "backend",
        {
            "tidscope_confinement",
            "tidscope_wire",
            "tidscope_policies",
            "tidscope_predictd",
            "tidscope_traces",
        },
    ),
    "tidscope_traces": ("traces", set()),
    "tidscope_predictd": ("predictd", {"tidscope_confinement", "tidscope_policies.perceptron"}),
    "tidscope_confinement": ("shared", set()),
    "tidscope_wire": ("shared", set()),
    "tidscope_policies": ("shared", set()),
}
"""Our packages: their folder, and which of the others, or of their folders, each may import."""

PURE = {
    "tidscope_policies": {
        *(
            "collections",
            "dataclasses",
            "heapq",
            "itertools",
            "math",
            "re",
            "statistics",
            "typing",
            "zlib",
        ),
        "numpy",
    },
    "tidscope_traces": {
        *(
            "bisect",
            "collections",
            "dataclasses",
            "functools",
            "heapq",
            "itertools",
            "math",
            "operator",
        ),
        *("typing", "numpy", "sklearn"),
    },
}
"""Folders that import only themselves and these: no clock, no I/O, no chance."""

FEATURES = {
    "arrange": {"charts"},
    "attach": {"roles"},
    "calls": {"facts"},
    "change": {"facts"},
    "charts": set[str](),
    "compare": {"stacks"},
    "doctor": set[str](),
    "events": set[str](),
    "experiments": {"compare", "tiles"},
    "facts": set[str](),
    "findings": {"arrange", "change", "facts", "stacks"},
    "flame": set[str](),
    "goroutines": {"facts", "flame"},
    "hosts": {"attach", "kept"},
    "kept": set[str](),
    "live": {"attach", "picker", "scope"},
    "map": {"stacks"},
    "picker": {"attach"},
    "pools": {"facts"},
    "processes": {"facts"},
    "record": {"kept", "stacks"},
    "roles": set[str](),
    "run": {
        "arrange",
        "change",
        "compare",
        "findings",
        "roles",
        "scope",
        "stacks",
        "steering",
        "thread",
        "tiles",
    },
    "runs": {"compare", "kept", "run"},
    "scope": {
        "arrange",
        "attach",
        "calls",
        "change",
        "charts",
        "events",
        "findings",
        "goroutines",
        "map",
        "pools",
        "processes",
        "record",
        "roles",
        "stacks",
        "steering",
        "thread",
        "threads",
        "tiles",
        "times",
        "waiting",
        "wakes",
    },
    "stacks": {"attach", "flame", "goroutines"},
    "steering": {"charts"},
    "thread": {"facts", "stacks", "steering", "times"},
    "threads": {"roles", "stacks"},
    "tiles": set[str](),
    "times": {"charts", "stacks"},
    "trace": {"attach", "stacks", "traces"},
    "traces": {"attach", "facts", "flame"},
    "waiting": {"facts", "stacks"},
    "wakes": {"facts"},
}
"""Features of the page, frontend/src/features/NAME, and which other features each may import."""

KERNEL = {"api", "base", "chart", "stream", "ui", "wire"}
"""Folders of frontend/src that each feature may import; none of these imports a feature."""

PAGE = {
    "main.tsx": {"api", "app", "base", "stream", "styles"},
    "recorded.tsx": {"app", "base", "stream", "styles"},
    "app": KERNEL | {f"features/{name}" for name in FEATURES},
    **{
        f"features/{name}": KERNEL | {f"features/{other}" for other in others}
        for name, others in FEATURES.items()
    },
    "ui": {"base", "wire"},
    "chart": {"base", "stream", "wire"},
    "api": {"base", "wire"},
    "stream": {"base", "wire"},
    "testing": {
        *("api", "app", "base", "stream", "wire"),
        *("features/steering", "features/trace", "features/traces"),
    },
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
    for path, text in _page_sources(top):
        relative = path.relative_to(top)
        source = _page_folder(relative.as_posix())
        for match in STATEMENT.finditer(text):
            if match[1].startswith("."):
                to = posixpath.normpath(posixpath.join(relative.parent.as_posix(), match[1]))
                wanted = _page_folder(to)
                line = text.count("\n", 0, match.start()) + 1
                name = path.relative_to(root).as_posix()
                if wanted != source:
                    yield Import(name, line, source, wanted, ".test." in path.name)


def _page_folder(path: str) -> str:
    """The folder that directions are given for: `features/NAME`, or the first of the path."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "features" else parts[0]


def _page_sources(top: Path) -> Iterator[tuple[Path, str]]:
    """Sources of the page, comments blanked: one may show an import as an example."""
    for path in sorted(path for path in top.rglob("*") if path.suffix in SOURCES):
        lines = [
            "" if line.lstrip().startswith(("*", "//", "/*")) else line
            for line in path.read_text().splitlines()
        ]
        yield path, "\n".join(lines)


def check_packages(imports: list[Import]) -> Iterator[str]:
    """Packages import no other than they may, and their folders do not need each other."""
    folders: dict[str, dict[str, set[str]]] = {package: {} for package in PACKAGES}
    for found in imports:
        source, wanted = found.source.split("."), found.wanted.split(".")
        if source[0] == wanted[0]:
            ends = [part[1] if len(part) > 2 else "" for part in (source, wanted)]
            if all(ends) and ends[0] != ends[1]:
                folders[source[0]].setdefault(ends[0], set()).add(ends[1])
        elif not PACKAGES[source[0]][1] & {wanted[0], ".".join(wanted[:2])}:
            yield f"{found.path}:{found.line}: {source[0]} must not import {found.wanted}"
    for package, edges in folders.items():
        for cycle in find_cycles(edges):
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


def python_files(root: Path) -> dict[str, set[str]]:
    """Files of our packages, and which of these each imports, for types alone too."""
    files: dict[str, str] = {}
    for package, (folder, _) in PACKAGES.items():
        for path in (root / folder / package).rglob("*.py"):
            parts = path.relative_to(root / folder).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            files[module] = path.relative_to(root).as_posix()
    edges: dict[str, set[str]] = {name: set() for name in files.values()}
    for found in python_imports(root):
        # The imported name may be a module, or a name in one.
        wanted = files.get(found.wanted) or files.get(found.wanted.rpartition(".")[0])
        if wanted is not None and wanted != found.path:
            edges[found.path].add(wanted)
    return edges


def page_files(root: Path) -> dict[str, set[str]]:
    """Files of frontend/src, and which of these each imports, for types alone too."""
    top = root / "frontend" / "src"
    edges: dict[str, set[str]] = {}
    for path, text in _page_sources(top):
        name = path.relative_to(root).as_posix()
        edges[name] = set()
        for match in STATEMENT.finditer(text):
            if match[1].startswith("."):
                wanted = posixpath.normpath(posixpath.join(path.parent.as_posix(), match[1]))
                for ending in ("", *SOURCES, *(f"/index{ending}" for ending in SOURCES)):
                    if (found := Path(wanted + ending)).is_file():
                        edges[name].add(found.relative_to(root).as_posix())
                        break
    return edges


def check_files(edges: Mapping[str, set[str]]) -> Iterator[str]:
    """Files do not import each other in a cycle."""
    for cycle in find_cycles(edges):
        yield f"files import each other: {' -> '.join(cycle)}"


def find_cycles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """One shortest cycle of each set of nodes that reach one another, the first node at both ends.

    A set may hold more cycles than the one that is named: break it and check again.
    """
    found: list[list[str]] = []
    reported: set[str] = set()
    for start in sorted(edges):
        way = None if start in reported else _way_back(edges, start)
        if way is not None:
            found.append(way)
            reported |= _reachable(edges, start) & {
                node for node in edges if start in _reachable(edges, node)
            }
    return found


def _way_back(edges: Mapping[str, set[str]], start: str) -> list[str] | None:
    """The shortest way from a node to itself; None if there is none."""
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for wanted in sorted(edges.get(node, ())):
            if wanted == start:
                way = [start]
                while node != start:
                    way.insert(0, node)
                    node = came_from[node]
                return [start, *way]
            if wanted not in came_from:
                came_from[wanted] = node
                waiting.append(wanted)
    return None


def _reachable(edges: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(new)
    return found


def check(root: Path) -> list[str]:
    """All that is wrong in a source tree, one line each."""
    python, page = list(python_imports(root)), list(page_imports(root))
    if not python or not page:
        return [f"{root}: no imports found; the folders are not where they are looked for"]
    return [
        *check_packages(python),
        *check_pure(root),
        *check_page(page),
        *check_files(python_files(root) | page_files(root)),
    ]


if __name__ == "__main__":
    sys.exit(check_tree(check))
