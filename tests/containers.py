"""Containers of podman from an image without files: the host's /usr is mounted into each."""

import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capabilities import missing

_CONFIGURATION = """
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
[engine]
runtime = "{runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
"""Settings that ask for no more than a machine grants whose services are not systemd's."""
_FOLDERS = ("dev", "etc", "mnt", "opt", "proc", "root", "run", "sys", "tmp", "usr", "var/log")
_LINKS = ("bin", "lib", "lib64", "sbin")
_FILES = ("ld.so.cache", "nsswitch.conf", "os-release")
_USERS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/machine-id": "",
}


class Podman:
    """Podman with one image; `containers` makes it."""

    def __init__(self, folder: Path, patience_s: float = 120) -> None:
        self._patience_s = patience_s
        runtime = next((name for name in ("crun", "runc") if shutil.which(name)), "runc")
        configuration = folder / "containers.conf"
        configuration.write_text(_CONFIGURATION.format(runtime=runtime))
        self._environment = {**os.environ, "CONTAINERS_CONF": str(configuration)}
        self.image = f"localhost/tidscope-test-{uuid.uuid4().hex[:12]}"

    def call(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of podman."""
        done = subprocess.run(
            ["podman", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=self._patience_s,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done

    def build(self, folder: Path) -> None:
        """Import the image: folders, links into /usr, and a few files of /etc."""
        packed = folder / "image.tar"
        with tarfile.open(packed, "w") as tar:
            for name in _FOLDERS:
                _add(tar, name, tarfile.DIRTYPE, mode=0o1777 if name == "tmp" else 0o755)
            for name in ("var/lib/tidscope", "var/lib/tidscope/runs"):
                _add(tar, name, tarfile.DIRTYPE, mode=0o700, owner=65534)
            for name in _LINKS:
                _add(tar, name, tarfile.SYMTYPE, target=f"usr/{name}")
            for name, text in _USERS.items():
                _add(tar, name, tarfile.REGTYPE, content=text.encode())
            for name in _FILES:
                if (Path("/etc") / name).exists():
                    content = (Path("/etc") / name).read_bytes()
                    _add(tar, f"etc/{name}", tarfile.REGTYPE, content=content)
            for name in ("alternatives", "dbus-1", "pam.d"):
                if (Path("/etc") / name).is_dir():
                    tar.add(f"/etc/{name}", f"etc/{name}")
        self.call("import", "--quiet", str(packed), self.image)

    @contextmanager
    def running(self, name: str, options: Sequence[str], command: Sequence[str]) -> Iterator[None]:
        """Run a command in a container that has the host's /usr."""
        with self._started(name, ("--volume", "/usr:/usr:ro", *options, self.image, *command)):
            yield

    @contextmanager
    def running_root(
        self, name: str, root: Path, options: Sequence[str], command: Sequence[str]
    ) -> Iterator[None]:
        """Run a command in a container whose files are those of a folder, which it changes."""
        with self._started(name, (*options, "--rootfs", str(root), *command)):
            yield

    @contextmanager
    def _started(self, name: str, arguments: Sequence[str]) -> Iterator[None]:
        try:
            self.call("run", "--detach", "--name", name, *arguments)
            yield
        finally:
            self.call("rm", "--force", "--time", "5", "--volumes", name, check=False)

    def says(self, name: str, text: str) -> None:
        """Wait until a container has written a text."""
        follow = ["podman", "logs", "--follow", name]
        said = ""
        with subprocess.Popen(
            follow,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as reading:
            try:
                assert reading.stdout is not None
                for line in reading.stdout:
                    said += line
                    if text in line:
                        return
            finally:
                reading.kill()
        raise AssertionError(f"{name} has ended without {text!r}: {said}")

    def execute(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a running container."""
        return self.call("exec", name, *command, check=False)


def _add(
    tar: tarfile.TarFile,
    name: str,
    kind: bytes,
    *,
    mode: int = 0o644,
    owner: int = 0,
    target: str = "",
    content: bytes = b"",
) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, target, len(content)
    entry.uid = entry.gid = owner
    tar.addfile(entry, io.BytesIO(content))


@contextmanager
def containers() -> Iterator[Podman]:
    """Podman with its image; the test is skipped where podman cannot run a container at all."""
    if shutil.which("podman") is None:
        raise missing("podman", "there is no podman")
    with tempfile.TemporaryDirectory(prefix="tidscope-podman-") as name:
        podman = Podman(Path(name))
        try:
            podman.build(Path(name))
            tried = podman.call(
                *("run", "--rm", "--volume", "/usr:/usr:ro", podman.image, "true"), check=False
            )
            if tried.returncode != 0:
                raise missing("podman", tried.stderr[-300:])
            yield podman
        finally:
            podman.call("rmi", "--force", podman.image, check=False)


def compose_options(service: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Translate a service of docker-compose.yml to options of `podman run`.

    Args:
        service: the service, without image, build and command.
        environment: variables that replace those of the service with the same name.
    """
    options: list[str] = []
    single = {"user": "user", "pid": "pid", "network_mode": "network", "userns_mode": "userns"}
    single |= {"cgroup": "cgroupns"}
    many = {"cap_drop": "cap-drop", "cap_add": "cap-add", "tmpfs": "tmpfs", "volumes": "volume"}
    many |= {"ports": "publish", "security_opt": "security-opt"}
    # Compose reads the file from beside its own.
    secure = "security_opt"
    beside = f"seccomp={Path(__file__).parents[1]}/packaging"
    service = {
        **service,
        secure: [one.replace("seccomp:packaging", beside) for one in service.get(secure, ())],
    }
    for name, value in service.items():
        if name in single:
            options.append(f"--{single[name]}={value}")
        elif name in many:
            options += [f"--{many[name]}={one}" for one in value]
        elif name == "environment":
            options += [f"--env={one}={environment.get(one, text)}" for one, text in value.items()]
        elif name == "read_only":
            options.append(f"--read-only={json.dumps(value)}")
        else:
            assert name in ("build", "image", "command", "restart", "depends_on", "pull_policy")
    return options
