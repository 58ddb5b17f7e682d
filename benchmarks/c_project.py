"""A real C project that is built in seconds: Lua, as Debian's source package has it."""

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".cache" / "benchmarks" / "lua"
PACKAGE = "lua5.4"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def unpack(folder: Path) -> Path:
    """Put its sources into a folder; fetched once, by apt-get.

    Returns:
        Where its Makefile is; the target for it is `linux-noreadline`.

    Raises:
        subprocess.CalledProcessError: apt-get cannot fetch it.
    """
    if not KEPT.exists():
        _fetch()
    with tarfile.open(KEPT) as packed:
        packed.extractall(folder, filter="data")
    (made,) = folder.iterdir()
    return made / "src"


def _fetch() -> None:
    """By indexes of our own: those of the machine may leave sources out."""
    lines = Path("/etc/os-release").read_text().splitlines()
    release = next(line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME"))
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        work.chmod(0o755)
        listed = work / "sources.list"
        listed.write_text(
            f"deb-src [signed-by={_KEYRING}] http://deb.debian.org/debian {release} main\n"
        )
        (work / "lists" / "partial").mkdir(parents=True)
        options = [
            *("-qq", "-o", f"Dir::Etc::SourceList={listed}", "-o", "Dir::Etc::SourceParts=-"),
            *("-o", f"Dir::State::Lists={work / 'lists'}"),
            *("-o", "APT::Sandbox::User=root"),
        ]
        for words in (["update"], ["source", "--download-only", PACKAGE]):
            subprocess.run(["apt-get", *options, *words], cwd=work, check=True)
        (archive,) = work.glob("*.orig.tar.*")
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(archive, KEPT.with_suffix(".new"))
        KEPT.with_suffix(".new").rename(KEPT)
