"""Make the packages of the agents: `python tools/pack_agents.py FOLDER`.

The folder then holds a wheel (Python), a crate (Rust), a jar with its pom (Java), the module's zip
as Go's proxies serve it, and a tarball of the header (C and C++). Nothing is published.
"""

import argparse
import gzip
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from command_line import ROOT

GO_MODULE = "github.com/tidscope/tidscope/agents/go"
LICENSED = ("python", "rust/tidscope_agent", "go", "c")
"""Folders whose packages hold the licence; the pom names it."""
TIME = (1980, 1, 1, 0, 0, 0)
"""Time of all files in a zip: the same sources give the same bytes."""


def version_of(agents: Path) -> str:
    """Return the version of the agents, which is that of tidscope."""
    text = (agents / "python" / "pyproject.toml").read_text(encoding="utf-8")
    (found,) = re.findall(r'(?m)^version = "(.+)"', text)
    return str(found)


def pack_wheel(agents: Path, out: Path, version: str) -> Iterator[Path]:
    """Make the Python agent's wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    _run(command, agents / "python")
    yield out / f"tidscope_agent-{version}-py3-none-any.whl"


def pack_crate(agents: Path, out: Path, version: str) -> Iterator[Path]:
    """Make the Rust agent's crate, as `cargo publish` uploads it."""
    target = out / "target"
    command = ["cargo", "package", "--quiet", "--no-verify", "--allow-dirty"]
    _run([*command, "--target-dir", str(target)], agents / "rust" / "tidscope_agent")
    made = target / "package" / f"tidscope-agent-{version}.crate"
    yield Path(shutil.copy(made, out))
    shutil.rmtree(target)


def pack_jar(agents: Path, out: Path, version: str) -> Iterator[Path]:
    """Make the Java agent's jar, and the pom beside it."""
    _run(["mvn", "-q", "-B", "package"], agents / "java")
    name = f"tidscope-agent-{version}"
    yield Path(shutil.copy(agents / "java" / "target" / f"{name}.jar", out))
    yield Path(shutil.copy(agents / "java" / "pom.xml", out / f"{name}.pom"))


def pack_module(agents: Path, out: Path, version: str) -> Iterator[Path]:
    """Make the zip of the Go module; nested modules are not a part of it."""
    folder = agents / "go"
    nested = {path.parent for path in folder.glob("*/**/go.mod")}
    made = out / f"tidscope-agent-go-{version}.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and nested.isdisjoint(path.parents):
                name = f"{GO_MODULE}@v{version}/{path.relative_to(folder)}"
                info = zipfile.ZipInfo(name, TIME)
                packed.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    yield made


def pack_header(agents: Path, out: Path, version: str) -> Iterator[Path]:
    """Make the tarball of the C and C++ agent."""
    folder, name = agents / "c", f"tidscope-agent-c-{version}"
    made = out / f"{name}.tar.gz"
    with (
        made.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(f"{name}/{path.relative_to(folder)}")
                data = path.read_bytes()
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    yield made


PACKERS = (pack_wheel, pack_crate, pack_jar, pack_module, pack_header)


def pack(root: Path, out: Path) -> list[Path]:
    """Make all packages from the committed and new files of a checkout; return them.

    Raises:
        CalledProcessError: a build failed.
        FileNotFoundError: a tool of a language is missing.
    """
    out.mkdir(parents=True, exist_ok=True)
    listed = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    listed += ["--exclude-standard", "agents"]
    files = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as copied:
        for name in filter(None, files.split("\0")):
            if (root / name).is_file():
                (Path(copied) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, Path(copied) / name)
        agents = Path(copied) / "agents"
        for folder in LICENSED:
            shutil.copy(root / "LICENSE", agents / folder)
        version = version_of(agents)
        return [made for packer in PACKERS for made in packer(agents, out.resolve(), version)]


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the packages; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the packages")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    given = parser.parse_args(arguments)
    for file in pack(given.root.resolve(), given.out):
        print(f"{file.stat().st_size:>12,}  {file.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
