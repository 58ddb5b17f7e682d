"""Certificates that a test makes: an authority, and servers that it signed."""

import subprocess
from pathlib import Path

_NEW = ("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make_authority(folder: Path) -> Path:
    """Make an authority in a new folder: ca.key and ca.crt, whose path is returned."""
    folder.mkdir()
    files = ("-keyout", "ca.key", "-out", "ca.crt")
    _run(folder, *_NEW, "-x509", *files, "-days", "2", "-subj", "/CN=tidscope test")
    return folder / "ca.crt"


def make_certificate(folder: Path, name: str = "localhost", days: int = 2) -> None:
    """Make tls.key and tls.crt, signed by the authority of the folder.

    Args:
        folder: folder of the authority.
        name: name in the certificate.
        days: days until it ends; negative if it has ended.
    """
    _run(
        folder,
        *(*_NEW, "-new", "-keyout", "tls.key", "-out", "tls.csr", "-subj", f"/CN={name}"),
        *("-addext", f"subjectAltName=DNS:{name}"),
        # A server is no authority, which openssl would make it by itself.
        *("-addext", "basicConstraints=critical,CA:FALSE"),
    )
    _run(
        folder,
        *("openssl", "x509", "-req", "-in", "tls.csr", "-out", "tls.crt", "-days", str(days)),
        *("-CA", "ca.crt", "-CAkey", "ca.key", "-copy_extensions", "copy"),
    )


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
