"""Check that words which docs/glossary.md retired do not come back.

`python tools/check_words.py [ROOT]` prints each use of a word of tools/retired_words.toml and exits
1 if there is one. `[names]` holds parts of identifiers and of file names (`Helm`, `helm_seconds`
and `openHelm` all have the part "helm"); `[phrases]` holds words of any text, comments and
messages included. The value says what to write instead.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from command_line import check_tree

LIST = Path("tools/retired_words.toml")
EXEMPT = {
    "docs/glossary.md",
    "tools/retired_words.toml",
    "tools/check_words.py",
    "tests/unit/test_tree_checks.py",
}
SKIPPED = (
    "LICENSES/",
    "kernel/patches/",
    "tests/contract/corpus.json",
    "tests/contract/frames.json",
)
CODE = {".py", ".ts", ".tsx", ".mjs", ".js", ".go", ".java", ".c", ".h", ".css"}
TEXT = CODE | {".md", ".json", ".toml", ".yml", ".html", ".xml", ".sh", ""}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Retired:
    """What must not be written, and what to write instead.

    Attributes:
        names: part of an identifier, in lower case, to what replaces it.
        phrases: pattern to what replaces it.
    """

    names: Mapping[str, str]
    phrases: Mapping[re.Pattern[str], str]


def load(path: Path) -> Retired:
    """Read the list."""
    document = tomllib.loads(path.read_text())
    phrases = {
        re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE): better
        for phrase, better in document["phrases"].items()
    }
    return Retired(document["names"], phrases)


def in_path(path: str, retired: Retired) -> Iterator[str]:
    """Complaints about the name of a file or one of its folders."""
    for word in _parts(path):
        if word in retired.names:
            yield f"{path}: the name has {word!r}: {retired.names[word]}"


def in_text(path: str, text: str, retired: Retired) -> Iterator[str]:
    """Complaints about what a file holds."""
    code = Path(path).suffix in CODE
    for number, line in enumerate(text.splitlines(), 1):
        if code:
            for word in sorted(set(_parts(line)) & retired.names.keys()):
                yield f"{path}:{number}: {word!r}: {retired.names[word]}"
        for pattern, better in retired.phrases.items():
            found = pattern.search(line)
            if found:
                yield f"{path}:{number}: {found[0]!r}: {better}"


def _parts(text: str) -> Iterator[str]:
    for identifier in IDENTIFIER.findall(text):
        for part in PART.findall(identifier):
            yield part.lower()


def check(root: Path) -> list[str]:
    """Every complaint about the files that the repository holds, one line each."""
    retired = load(root / LIST)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    wrong: list[str] = []
    for path in sorted(filter(None, listed.stdout.decode().split("\0"))):
        suffix = Path(path).suffix
        skipped = (
            path in EXEMPT or path.startswith(SKIPPED) or path.endswith((".lock", "-lock.json"))
        )
        if skipped or suffix not in TEXT or not (root / path).is_file():
            continue
        wrong += in_path(path, retired)
        wrong += in_text(path, (root / path).read_text(errors="replace"), retired)
    return wrong


if __name__ == "__main__":
    sys.exit(check_tree(check))
