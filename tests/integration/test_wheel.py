"""The wheel: the same bytes everywhere, an honest tag, and a page in an empty environment."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from built_wheel import ROOT, build_wheel, empty_environment
from capabilities import missing, needs
from tidscope_collector.ebpf import libbpf
from tidscope_processes import NOBODY, python_for
from tidscope_sampler import native

MAX_BYTES = 40 << 20
COMPILED = ("native.abi3.so", "libbpf.so.1", "tidscope-stacks")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """This checkout in another folder, whose files have another time and mode."""
    folder = tmp_path / "elsewhere"
    git = ["git", "-C", str(ROOT)]
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    made = [path for name in COMPILED for path in ROOT.glob(f"*/tidscope_*/**/{name}")]
    page = (ROOT / "backend/tidscope_backend/web").rglob("*")
    for path in {*(ROOT / name for name in listed.stdout.split("\0") if name), *made, *page}:
        if not path.is_file():
            continue
        to = folder / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to, follow_symlinks=False)
        if not to.is_symlink():
            to.chmod(to.stat().st_mode & 0o700)
            os.utime(to, (1_000_000_000, 1_000_000_000))
    found = subprocess.run(
        [*git, "rev-parse", "--absolute-git-dir"], capture_output=True, text=True, check=True
    )
    (folder / ".git").write_text(f"gitdir: {found.stdout}")
    return folder


def test_two_builds_give_the_same_bytes(wheel: Path, copy: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        second = build_wheel(copy, tmp_path / "dist", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    finally:
        os.umask(before)
    assert second.name == wheel.name
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(second) as other:
        assert one.namelist() == other.namelist()
        assert [name for name in one.namelist() if one.read(name) != other.read(name)] == []
    assert second.read_bytes() == wheel.read_bytes()


def test_programs_name_no_folder_of_the_builder() -> None:
    compiled = Path(native.__file__).read_bytes() + libbpf.FILE.read_bytes()
    for folder in (str(ROOT), f"{Path.home()}/", "/registry/src/"):
        assert folder.encode() not in compiled


def test_the_tag_is_what_auditwheel_finds(wheel: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r'following platform tag:\s+"(\w+)"', done.stdout)
    assert found is not None, done.stdout
    assert wheel.name.endswith(f"-cp311-abi3-{found[1]}.whl")
    assert found[1].startswith("manylinux_")


def test_it_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= MAX_BYTES


@pytest.fixture(scope="module")
def environment() -> Iterator[Mapping[str, str]]:
    """An empty environment, which any user may read."""
    with tempfile.TemporaryDirectory(prefix="tidscope-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield empty_environment(folder, python_for("nobody"))


@pytest.fixture(scope="module")
def tool(wheel: Path, environment: Mapping[str, str]) -> Path:
    """The command as uv installs it, for every user."""
    folder = Path(environment["HOME"])
    command = ["uv", "tool", "install", "--link-mode=copy", str(wheel)]
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "commands")}
    done = run(command, {**environment, **places})
    if done.returncode and re.search(
        "failed to (fetch|connect|lookup)", done.stderr, re.IGNORECASE
    ):
        raise missing("pypi", done.stderr[-300:])
    assert done.returncode == 0, done.stderr
    return folder / "commands" / "tidscope"


def run(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0], path=environment["PATH"]) or command[0]
    return subprocess.run(
        [program, *command[1:]], env=environment, capture_output=True, text=True, check=False
    )


def test_uvx_runs_the_wheel(wheel: Path, environment: Mapping[str, str], tool: Path) -> None:
    """After the tool's installation: what it needs is in uv's cache."""
    assert tool.exists()
    done = run(["uvx", "--from", str(wheel), "tidscope", "--version"], environment)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert set(lines) == {"tidscope", "commit", "sampler", "eBPF", "stacks", "page"}
    with zipfile.ZipFile(wheel) as packed:
        commit = json.loads(packed.read("tidscope_backend/build.json"))["commit"]
    assert lines["commit"].partition(",")[0] == (commit or "unknown: built").partition("-")[0]
    assert lines["sampler"] == native.VERSION
    assert lines["eBPF"] == ", ".join(native.BPF_OBJECTS)
    assert lines["page"] == "built in"


def test_pipx_installs_the_wheel_with_its_manual(
    wheel: Path, environment: Mapping[str, str], tool: Path
) -> None:
    """Pipx itself is run by uvx. After the tool's installation: the packages are in uv's cache."""
    assert tool.exists()
    folder = Path(environment["HOME"]) / "pipx"
    places = {"PIPX_HOME": str(folder), "PIPX_BIN_DIR": str(folder / "commands")}
    places["PIPX_MAN_DIR"] = str(folder / "man")
    install = [
        "uvx",
        "pipx",
        "install",
        "--quiet",
        "--backend",
        "uv",
        "--python",
        environment["UV_PYTHON"],
    ]
    done = run([*install, str(wheel)], {**environment, **places})
    assert done.returncode == 0, done.stderr
    done = run([str(folder / "commands" / "tidscope"), "--version"], environment)
    assert done.returncode == 0, done.stderr
    assert "page     built in" in done.stdout
    assert (folder / "man" / "man1" / "tidscope-record.1").exists()


@contextmanager
def started(
    tool: Path, environment: Mapping[str, str], user: int, home: Path
) -> Iterator[dict[str, Any]]:
    """Run `tidscope up` as a user; yield what it prints about itself."""
    home.mkdir()
    os.chown(home, user, user)
    process = subprocess.Popen(
        [tool, "up", "--port", "0", "--no-open", "--json"],
        env={**environment, "HOME": str(home)},
        user=user,
        group=user,
        extra_groups=[],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate(timeout=60)
            yield json.loads(line)
        finally:
            process.terminate()
            process.communicate(timeout=60)


@needs("root")
@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "nobody"])
def test_up_shows_a_page_and_its_threads(
    tool: Path, environment: Mapping[str, str], user: int
) -> None:
    home = Path(environment["HOME"]) / f"home-{user}"
    with started(tool, environment, user, home) as facts:
        headers = {"authorization": f"Bearer {facts['token']}"}
        with httpx.Client(base_url=facts["address"], headers=headers, timeout=60) as client:
            page = client.get("/")
            assert page.status_code == 200
            (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', page.text)
            assert client.get(script).status_code == 200
            answer = client.post("/api/v1/targets", json={"pid": facts["backend_pid"]})
            assert answer.status_code == 201, answer.text
