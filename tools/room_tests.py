"""Print the tests of one room: files of unit and contract tests that import something of it.

`python tools/room_tests.py collector/locks` takes a folder below `collector/`, `backend/`,
`shared/`, `traces/` or `predictd/`, with or without the package's own folder in between. It exits
2 if there is no such folder, 1 if nothing tests it.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("tests/unit", "tests/contract")


def module_of(root: Path, room: str) -> str | None:
    """The Python module of a folder, such as `tidscope_collector.locks`; None: no such folder."""
    top, _, rest = room.strip("/").partition("/")
    for package in sorted((root / top).glob("tidscope_*")):
        inner = rest.removeprefix(package.name).strip("/")
        if (package / inner / "__init__.py").exists():
            return ".".join((package.name, *filter(None, inner.split("/"))))
    package = root / top / rest.partition("/")[0]
    return None if not (package / "__init__.py").exists() else rest.replace("/", ".")


def imports(source: str) -> set[str]:
    """Modules that a file imports; of `from a import b` both `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def tests_of(root: Path, module: str) -> list[str]:
    """Files of tests that import the module or one below it, relative to the root."""
    return [
        str(path.relative_to(root))
        for folder in TESTS
        for path in sorted((root / folder).glob("test_*.py"))
        if any(f"{name}.".startswith(f"{module}.") for name in imports(path.read_text()))
    ]


def main() -> int:
    """Print the files; see the module's text."""
    if len(sys.argv) != 2:
        print("name a room: make test-room ROOM=collector/locks", file=sys.stderr)
        return 2
    module = module_of(ROOT, sys.argv[1])
    if module is None:
        print(f"{sys.argv[1]} is no folder of a package here", file=sys.stderr)
        return 2
    found = tests_of(ROOT, module)
    print("\n".join(found))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
