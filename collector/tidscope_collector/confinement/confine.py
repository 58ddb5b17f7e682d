"""Gives up rights that the collector no longer needs after set-up, and reports the gaps."""

import os
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tidscope_confinement import capabilities, landlock, seccomp
from tidscope_confinement.landlock import Paths

from tidscope_collector.confinement.calls import collector_calls

_NO_LANDLOCK = "this kernel has no Landlock"
_BOOT = "Boot Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y and landlock in lsm=."

SETTING_UP = frozenset(capabilities.NAMES)
"""Capabilities that some feature needs; all others are given up first."""
_KERNEL = (
    "/proc",
    "/sys/devices/system",  # CPUs, clock source
    "/sys/fs/cgroup",  # CPU limits
    "/sys/class/powercap",
    "/sys/devices/virtual/powercap",
    "/dev/urandom",
)
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_NAMES = (
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf"),
    *("/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/localtime"),
    *("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/usr/share/zoneinfo"),
)
_CERTIFICATES = (
    *("/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/pki/tls/certs"),
    *("/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/ca-certificates"),
    *("/etc/crypto-policies", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
)
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PACKAGES = (
    *("tidscope_collector", "tidscope_confinement", "tidscope_wire", "tidscope_policies"),
    "tidscope_predictd",
)
_DNS = 53


@dataclass(frozen=True, slots=True)
class Needs:
    """Activities of the collector after set-up.

    Attributes:
        paths: paths that it opens.
        taskstats: True if samples come from taskstats; otherwise from /proc, where the kernel
            checks the reader's rights at each read of I/O counters.
        hidden: True if /proc hides processes from readers that may not trace them.
        steering: True if it sets the affinity of threads.
        ebpf: True if it has programs in the kernel.
        unix: True if its backend listens on a Unix socket.
    """

    paths: Paths
    taskstats: bool
    hidden: bool
    steering: bool
    ebpf: bool
    unix: bool = False

    @property
    def obstacle(self) -> str:
        """Why Landlock, which forbids inspecting other processes, cannot be used; "" if it can."""
        if not self.taskstats:
            return "samples come from /proc, which a confined process reads in part only"
        if self.hidden:
            return "/proc is mounted with hidepid, which would hide all processes from it"
        return ""


@dataclass(frozen=True, slots=True)
class Confinement:
    """Restrictions in effect on the collector.

    Attributes:
        granted: capabilities held during set-up.
        kept: capabilities held now.
        landlock_abi: version of Landlock, or 0 if it is not in effect.
        gaps: missing restrictions, each a sentence with its reason.
        fix: suggested fix; empty if none is known.
    """

    granted: frozenset[int]
    kept: frozenset[int]
    landlock_abi: int
    gaps: tuple[str, ...]
    fix: str = ""


def kept_capabilities(needs: Needs) -> frozenset[int]:
    """Return the capabilities to keep. The fork server opens other users' files."""
    kept: set[int] = set()
    if needs.taskstats:
        kept.add(capabilities.NET_ADMIN)
    if needs.steering:
        kept.add(capabilities.SYS_NICE)
    if needs.obstacle:
        kept |= {capabilities.SYS_PTRACE, capabilities.DAC_READ_SEARCH}
    return frozenset(kept)


def confine(needs: Needs, granted: frozenset[int]) -> Confinement:
    """Confine this process irrevocably. Call it while the process has one thread.

    Args:
        needs: activities after set-up.
        granted: capabilities held during set-up.

    Raises:
        OSError: capabilities could not be given up, so the process must not continue.
    """
    gaps: list[str] = []
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        gaps.append(f"{threads - 1} threads that libraries started before: they keep their rights.")
    abi = 0
    why = needs.obstacle or ("" if landlock.abi() else _NO_LANDLOCK)
    if not why:
        try:
            landlock.restrict(needs.paths)
            abi = landlock.abi()
        except OSError as error:
            why = str(error)
    if why:
        gaps.append(f"files: it may open all that its user may ({why}).")
    kept = capabilities.keep(kept_capabilities(needs))
    try:
        seccomp.install(collector_calls(steering=needs.steering, ebpf=needs.ebpf, unix=needs.unix))
    except (OSError, seccomp.UnsupportedProcessorError) as error:
        gaps.append(f"system calls: it may make all ({error}).")
    return Confinement(granted, kept, abi, tuple(gaps), _BOOT if why == _NO_LANDLOCK else "")


def foreseen(needs: Needs) -> Confinement:
    """Return the restrictions of a collector that this user would start here."""
    held, abi = capabilities.held(), landlock.abi()
    why = needs.obstacle or ("" if abi else _NO_LANDLOCK)
    gaps = (f"files: it may open all that its user may ({why}).",) if why else ()
    fix = _BOOT if why == _NO_LANDLOCK else ""
    return Confinement(held, held & kept_capabilities(needs), 0 if why else abi, gaps, fix)


def collector_paths(
    backend: str,
    written: tuple[Path, ...],
    *,
    anywhere: bool,
    environ: Mapping[str, str] = os.environ,
) -> Paths:
    """Return the paths that the collector opens: kernel files, its own code, name service.

    Args:
        backend: address of the backend; one without a host name is a Unix socket.
        written: existing folders in which files are created and changed.
        anywhere: True if TCP ports besides the backend's are connected to, for metrics and profiles
            of programs.
        environ: environment, which may name other certificates.
    """
    named = [environ[name] for name in _CERTIFICATE_VARIABLES if environ.get(name)]
    read = [*_KERNEL, *_LIBRARIES, *_NAMES, *_CERTIFICATES, *named, *_code()]
    address = urlsplit(backend)
    ports = (address.port or (443 if address.scheme == "wss" else 80), _DNS)
    return Paths(
        read=tuple(map(Path, read)),
        write=(*written, Path(os.devnull)),
        connect_ports=None if anywhere else ports if address.hostname else (),
    )


def _code() -> list[str]:
    """Return the interpreter's library, the packages installed beside it, and our own packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {sysconfig.get_path(kind) for kind in kinds}
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is not None:
            found |= set(spec.submodule_search_locations or ())
    return sorted(found)
