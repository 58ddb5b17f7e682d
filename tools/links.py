"""Links in Markdown pages: find them, and tell which lead nowhere.

Pages are files of this repository, written for GitHub: a link is relative to its page, and a
heading has the anchor that GitHub gives it.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LINK = re.compile(r"(?<=\]\()[^()\s]+(?=\))")
"""Target of an inline link or image; tables have one link a cell, and titles are not used."""
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
CODE = re.compile(r"(`+).+?\1")


@dataclass(frozen=True)
class Link:
    """A link of a page to something in the repository.

    Attributes:
        page: path of the page.
        line: its line, from 1.
        target: as written.
        path: path of the file or folder, below the root; the page's own for an anchor alone.
        anchor: what follows `#`; empty if nothing does.
    """

    page: str
    line: int
    target: str
    path: str
    anchor: str


def pages(root: Path) -> list[str]:
    """Return the paths of all Markdown files that git knows, and new ones, sorted."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z", "*.md"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(path for path in found.split("\0") if path and (root / path).is_file())


def links(page: str, text: str) -> Iterator[Link]:
    """Yield the links of a page into the repository; addresses and code are no such links."""
    blanked = CODE.sub(_blank, FENCE.sub(_blank, text))
    for found in LINK.finditer(blanked):
        target = text[found.start() : found.end()]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        line = text.count("\n", 0, found.start()) + 1
        yield Link(page, line, target, resolved(page, path), anchor)


def resolved(page: str, path: str) -> str:
    """Return a path of a page's link from the root; one that leaves the root begins with `..`."""
    if path == "":
        return page
    parts: list[str] = list(Path(page).parent.parts)
    for part in Path(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    seen: dict[str, int] = {}
    made = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        slug = slug_of(heading)
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        made.add(f"{slug}-{count}" if count else slug)
    return made


def slug_of(heading: str) -> str:
    """Return the anchor of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    plain = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)", "", plain)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def broken(root: Path) -> Iterator[str]:
    """Yield a complaint for each link to a file, folder or heading that does not exist."""

    @cache
    def anchors_of(path: str) -> set[str]:
        return {"", *anchors((root / path).read_text(encoding="utf-8"))}

    for page in pages(root):
        for link in links(page, (root / page).read_text(encoding="utf-8")):
            where = f"{link.page}:{link.line}: {link.target}"
            if link.path.startswith("..") or not (root / link.path).exists():
                yield f"{where}: no such file"
            elif link.path.endswith(".md") and link.anchor not in anchors_of(link.path):
                yield f"{where}: no such heading"


def _blank(found: re.Match[str]) -> str:
    """Replace code by blanks, so that places in the text stay."""
    return re.sub(r"[^\n]", " ", found[0])
