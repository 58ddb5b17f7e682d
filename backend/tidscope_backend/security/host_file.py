"""File with the secrets of hosts, written by `tidscope hosts` and reread by a running backend."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from tidscope_wire.proof import KEY_BYTES

FILE_NAME = "hosts.json"
MAX_BYTES = 4 << 20
MAX_HOST_IDS = 8


class HostFileError(Exception):
    """The file cannot be used; the text is the reason."""


@dataclass(frozen=True)
class OldKey:
    """A key replaced by a rotation.

    Attributes:
        key: key, hexadecimal.
        until_unix_s: end of validity.
    """

    key: str = field(repr=False)
    until_unix_s: float


@dataclass(frozen=True)
class HostEntry:
    """A host with a secret.

    Attributes:
        name: name given by the operator.
        key: key of the secret, hexadecimal.
        added_unix_s: time of addition.
        rotated_unix_s: time of the last rotation, or None.
        old: previous key during its grace period, or None.
        host_ids: host IDs bound to the secret, newest last; each boot adds one.
    """

    name: str
    key: str = field(repr=False)
    added_unix_s: float
    rotated_unix_s: float | None = None
    old: OldKey | None = None
    host_ids: tuple[str, ...] = ()

    def keys(self, now_unix_s: float) -> list[bytes]:
        """Return the valid keys, newest first."""
        keys = [bytes.fromhex(self.key)]
        if self.old is not None and now_unix_s < self.old.until_unix_s:
            keys.append(bytes.fromhex(self.old.key))
        return keys


Entries = dict[str, HostEntry]
_CONTENT: TypeAdapter[list[HostEntry]] = TypeAdapter(list[HostEntry])


class HostFile:
    """The hosts file: mode 0600, owned by this user, replaced atomically under a lock.

    Args:
        path: path of the file; its folder is created by the first write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at: tuple[int, int, int] | None = None
        self._entries: Entries = {}

    def entries(self) -> Entries:
        """Return all hosts by name; read again if the file has changed.

        Raises:
            HostFileError: the file is damaged, or accessible to other users.
        """
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            self._read_at, self._entries = None, {}
            return self._entries
        except OSError as error:
            raise HostFileError(f"{self._path}: {error.strerror}") from None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            state = (status.st_ino, status.st_mtime_ns, status.st_size)
            if state == self._read_at:
                return self._entries
            if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                raise HostFileError(
                    f"{self._path} belongs to another user, or others may use it; "
                    "its secrets are not used"
                )
            text = file.read(MAX_BYTES)
        try:
            entries = {entry.name: entry for entry in _CONTENT.validate_json(text)}
            for entry in entries.values():
                entry.keys(0)
        except (ValidationError, ValueError):
            raise HostFileError(f"{self._path} is not a file of hosts") from None
        self._read_at, self._entries = state, entries
        return entries

    def add(self, name: str, now_unix_s: float) -> bytes:
        """Add a host and return its key.

        Raises:
            HostFileError: the name is in use; or as `entries`.
        """
        key = secrets.token_bytes(KEY_BYTES)
        with self._changed() as entries:
            if name in entries:
                raise HostFileError(
                    f"host {name} has a secret; `tidscope hosts rotate {name}` makes another one"
                )
            entries[name] = HostEntry(name, key.hex(), now_unix_s)
        return key

    def rotate(self, name: str, now_unix_s: float, grace_s: float) -> bytes:
        """Replace a host's key; the old key stays valid for a grace period. Raises as `add`."""
        key = secrets.token_bytes(KEY_BYTES)
        with self._changed() as entries:
            entry = _required(entries, name)
            old = OldKey(entry.key, now_unix_s + grace_s) if grace_s > 0 else None
            entries[name] = replace(entry, key=key.hex(), rotated_unix_s=now_unix_s, old=old)
        return key

    def revoke(self, name: str) -> None:
        """Remove a host, which revokes its secret. Raises as `add`."""
        with self._changed() as entries:
            _required(entries, name)
            del entries[name]

    def pin(self, name: str, host_id: str) -> None:
        """Bind a host ID to the secret of a host. Raises as `add`."""
        with self._changed() as entries:
            entry = _required(entries, name)
            others = [one for one in entry.host_ids if one != host_id]
            ids = (*others, host_id)[-MAX_HOST_IDS:]
            entries[name] = replace(entry, host_ids=ids)

    @contextmanager
    def _changed(self) -> Iterator[Entries]:
        """The entries, to be changed; written if the block does not raise."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(
                self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                entries = dict(self.entries())
                yield entries
                self._write(entries)
            finally:
                os.close(lock)
        except OSError as error:
            raise HostFileError(f"{self._path}: {error.strerror}") from None

    def _write(self, entries: Entries) -> None:
        text = json.dumps([asdict(entry) for entry in entries.values()], indent=1)
        beside = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(beside, flags, 0o600), "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)


def _required(entries: Entries, name: str) -> HostEntry:
    if name not in entries:
        raise HostFileError(f"no host {name} has a secret; `tidscope hosts list` names those")
    return entries[name]
