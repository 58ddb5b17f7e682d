"""Labels of this host, from files that systemd, cloud-init and the kubelet leave, and from its
operator.

Whatever is not of the expected form is left out: the files are read before confinement, and
labels end up on pages.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "TIDSCOPE_LABELS"
MAX_LABELS = 32
MAX_FILE_BYTES = 1 << 20
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,62}")
VALUE = re.compile(r"[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,127}")
_OS = {"ID": "os", "VERSION_ID": "os-version"}
_MACHINE = {"DEPLOYMENT": "deployment", "LOCATION": "location", "CHASSIS": "chassis"}
_CLOUD = {
    "cloud_name": "cloud",
    "region": "region",
    "availability_zone": "zone",
    "instance_id": "instance",
}
KUBELET_FILES = (
    "var/lib/kubelet/kubeadm-flags.env",
    "etc/default/kubelet",
    "etc/sysconfig/kubelet",
)
NODE_LABELS = "--node-labels"


def host_labels(root: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a host, those of its operator first.

    Args:
        root: root of the file system.
        environ: environment variables.
    """
    found: dict[str, str] = {}
    for key, value in (*_pairs(environ.get(VARIABLE, "")), *_of_files(root)):
        if len(found) < MAX_LABELS and KEY.fullmatch(key) and VALUE.fullmatch(value):
            # Earlier sources win: they are nearer to the operator.
            found.setdefault(key, value)
    return found


def _of_files(root: Path) -> Iterator[tuple[str, str]]:
    for name in KUBELET_FILES:
        for value in _assignments(_text(root / name)).values():
            yield from _node_labels(value)
    yield from _named(_cloud(_text(root / "run/cloud-init/instance-data.json")), _CLOUD)
    yield from _named(_assignments(_text(root / "etc/machine-info")), _MACHINE)
    release = _text(root / "etc/os-release") or _text(root / "usr/lib/os-release")
    yield from _named(_assignments(release), _OS)


def _named(values: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, label in names.items():
        value = values.get(key)
        if isinstance(value, str) and value:
            yield label, value


def _text(path: Path) -> str:
    """Return the text of a regular file; "" if there is none, or it is too long or no UTF-8."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return ""
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return ""


def _assignments(text: str) -> dict[str, str]:
    """Return the variables of a file as os-release(5): NAME=VALUE, with quotes of the shell."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                words = shlex.split(value)
            except ValueError:
                continue
            found[name] = " ".join(words)
    return found


def _node_labels(flags: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of --node-labels=KEY=VALUE,… among a kubelet's flags."""
    words = flags.split()
    for word, after in zip(words, (*words[1:], ""), strict=True):
        if word == NODE_LABELS:
            yield from _pairs(after)
        elif word.startswith(NODE_LABELS + "="):
            yield from _pairs(word.partition("=")[2])


def _cloud(text: str) -> Mapping[str, Any]:
    """Return the standardised values of cloud-init's instance-data.json."""
    try:
        found = json.loads(text)["v1"] if text else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for pair in text.split(","):
        key, _, value = pair.partition("=")
        yield key.strip(), value.strip()
