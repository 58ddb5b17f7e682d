"""The wheel of this checkout, built once for all workers of a test session, and environments."""

import fcntl
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ("sh", "realpath", "dirname", "env")
"""Programs that the start script of a command from uv calls."""


def build_wheel(checkout: Path, folder: Path, **environment: str) -> Path:
    """Build the wheel of a checkout into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(
        command,
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def shared_wheel(factory: pytest.TempPathFactory) -> Path:
    """The session's wheel; the first worker that needs it builds it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = list(folder.glob("*.whl"))
        return found[0] if found else build_wheel(ROOT, folder)


def empty_environment(folder: Path, python: str) -> Mapping[str, str]:
    """Variables of somebody who has Python, uv and a shell, but no Node, Go, Rust or compiler.

    Args:
        folder: folder for the links that PATH names, and the home.
        python: interpreter.
    """
    programs = folder / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(f"/usr/bin/{name}")
    for name in ("uv", "uvx"):
        (programs / name).symlink_to(Path(sys.executable).parent / name)
    (programs / "python3").symlink_to(python)
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("UV_") or name == "SSL_CERT_FILE"
    }
    return {
        **inherited,
        "PATH": str(programs),
        "HOME": str(folder),
        "UV_CACHE_DIR": str(ROOT / ".cache" / "uv"),
        "UV_PYTHON": python,
        "UV_SYSTEM_CERTS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
    }


PLACE, PACKAGES = "/opt/tidscope", "/opt/packages"


def installation_for_containers(folder: Path, wheel: Path, python: str) -> tuple[str, str]:
    """Install the wheel into a folder for containers; options of podman that mount it.

    It is at PLACE in them. The packages that it needs are not fetched: they are this environment's.
    """
    uv = [str(Path(sys.executable).parent / "uv"), "--quiet", "--offline"]
    subprocess.run([*uv, "venv", "--relocatable", "--python", python, str(folder)], check=True)
    into = ["pip", "install", "--no-deps", "--link-mode=copy", "--python", f"{folder}/bin/python"]
    subprocess.run([*uv, *into, str(wheel)], check=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "needed.pth").write_text(f"{PACKAGES}\n")
    needed = sysconfig.get_path("purelib")
    return f"--volume={folder}:{PLACE}:ro", f"--volume={needed}:{PACKAGES}:ro"
