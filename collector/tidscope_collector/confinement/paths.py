"""What the collector opens once it is set up: kernel's files, its own code, name service."""

import os
import sysconfig
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tidscope_confinement.landlock import Paths

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


def collector_paths(
    backend: str,
    written: tuple[Path, ...],
    *,
    anywhere: bool,
    environ: Mapping[str, str] = os.environ,
) -> Paths:
    """What may be opened.

    Args:
        backend: its address; one without a host is a Unix socket's.
        written: folders in which files are made and changed; they exist.
        anywhere: other TCP ports than the backend's are connected to: metrics and profiles of
            programs.
        environ: may name other certificates.
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
    """The interpreter's library, what is installed beside us, and our own packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {sysconfig.get_path(kind) for kind in kinds}
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is not None:
            found |= set(spec.submodule_search_locations or ())
    return sorted(found)
