"""Check that words which docs/glossary.md retired do not come back.

`python tools/check_words.py [ROOT]` prints each use of a word of tools/retired_words.toml and exits
1 if there is one. The value of an entry says what to write instead.

- `[names]`: parts of identifiers and of file names. `Helm`, `helm_seconds` and `openHelm` all have
  the part "helm".
- `[phrases]`: words of any text, including comments and messages.
- `[identifiers]`: patterns of whole identifiers of code, for words that sentences may still use.
- `[sentences]`: patterns of any text, for the retired meaning of a common word.
- `[starts]`: patterns with which no comment starts, since it could not be understood alone.
- `[exempt]`: starts of paths in which identifiers and sentences are not checked.
"""

import io
import re
import subprocess
import sys
import tokenize
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
CODE = {".py", ".ts", ".tsx", ".mjs", ".js", ".go", ".java", ".rs", ".c", ".h", ".css"}
TEXT = CODE | {".md", ".json", ".toml", ".yml", ".html", ".xml", ".sh", ""}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
QUIET = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*` |
    (?<=[(,=:])\s*/(?![*/])(?:[^/\\\n]|\\.)+/[a-z]* | [>}][^<>{};=()]*<""",
    re.DOTALL | re.VERBOSE,
)
"""Comments and strings of languages with C's syntax, regular expressions, and text in JSX."""
COMMENT = re.compile(r"\s*(\"\"\"|///?|//!|/\*\*?|\*(?!/)|#)\s*(.*)")
"""A line of a comment or docstring: its mark and its text."""


@dataclass(frozen=True)
class Retired:
    """Retired words and their replacements.

    Attributes:
        names: part of an identifier, in lower case, to its replacement.
        phrases: pattern of any text to its replacement.
        identifiers: pattern of a whole identifier in snake case to its replacement.
        sentences: pattern of any text to its replacement; not applied to `exempt`.
        starts: pattern of the start of a comment to its replacement.
        exempt: starts of the paths in which identifiers and sentences are not checked.
    """

    names: Mapping[str, str]
    phrases: Mapping[re.Pattern[str], str]
    identifiers: Mapping[re.Pattern[str], str]
    sentences: Mapping[re.Pattern[str], str]
    starts: Mapping[re.Pattern[str], str]
    exempt: tuple[str, ...]


def load(path: Path) -> Retired:
    """Read the list."""
    document = tomllib.loads(path.read_text())
    phrases = {
        re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE): better
        for phrase, better in document["phrases"].items()
    }
    identifiers = {re.compile(one): better for one, better in document["identifiers"].items()}
    sentences = {
        re.compile(rf"\b(?:{one})", re.IGNORECASE): better
        for one, better in document["sentences"].items()
    }
    starts = {re.compile(rf"(?:{one})\b"): better for one, better in document["starts"].items()}
    exempt = tuple(path for paths in document["exempt"].values() for path in paths)
    return Retired(document["names"], phrases, identifiers, sentences, starts, exempt)


def in_path(path: str, retired: Retired) -> Iterator[str]:
    """Complaints about the name of a file or one of its folders."""
    for word in _parts(path):
        if word in retired.names:
            yield f"{path}: the name has {word!r}: {retired.names[word]}"


def in_text(path: str, text: str, retired: Retired) -> Iterator[str]:
    """Complaints about what a file holds."""
    code = Path(path).suffix in CODE
    patterns = dict(retired.phrases)
    if not path.startswith(retired.exempt):
        patterns |= retired.sentences
    for number, line in enumerate(text.splitlines(), 1):
        if code:
            for word in sorted(set(_parts(line)) & retired.names.keys()):
                yield f"{path}:{number}: {word!r}: {retired.names[word]}"
        for pattern, better in patterns.items():
            found = pattern.search(line)
            if found:
                yield f"{path}:{number}: {found[0]!r}: {better}"


def in_comments(path: str, text: str, retired: Retired) -> Iterator[str]:
    """Complaints about how comments and docstrings start."""
    if Path(path).suffix not in CODE:
        return
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = COMMENT.match(line)
        mark, said = found.groups() if found else ("", "")
        # A line after one with the same mark continues its comment.
        if mark and (mark in ('"""', "/**", "/*") or mark != before):
            for pattern, better in retired.starts.items():
                start = pattern.match(said)
                if start:
                    yield f"{path}:{number}: a comment starts with {start[0]!r}: {better}"
        # The first text below the beginning of a block starts its comment.
        before = "*" if mark.startswith("/*") and said else mark


def in_code(path: str, text: str, retired: Retired) -> Iterator[str]:
    """Complaints about whole identifiers of code, outside of comments and strings."""
    if Path(path).suffix not in CODE or path.startswith(retired.exempt):
        return
    for number, identifier in _identifiers(path, text):
        snake = "_".join(_parts(identifier))
        # The name of a test is a sentence.
        if snake.startswith("test_"):
            continue
        for pattern, better in retired.identifiers.items():
            if pattern.fullmatch(snake):
                yield f"{path}:{number}: {identifier!r}: {better}"


def _identifiers(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and identifiers of code."""
    if path.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string
        return
    code = QUIET.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        for identifier in IDENTIFIER.findall(line):
            yield number, identifier


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
        text = (root / path).read_text(errors="replace")
        wrong += in_text(path, text, retired)
        wrong += in_comments(path, text, retired)
        wrong += in_code(path, text, retired)
    return wrong


if __name__ == "__main__":
    sys.exit(check_tree(check))
