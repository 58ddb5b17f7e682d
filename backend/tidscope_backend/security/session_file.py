"""Sessions in a file, so that nobody has to sign in again when the backend restarts."""

import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from tidscope_wire.generated.models import Role

from tidscope_backend.security.sessions import Session

MAX_BYTES = 1 << 20
PATTERN = "sessions-*.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Content:
    """What the file holds.

    Attributes:
        salt: random, hex.
        tokens: for each role, what its token and the salt derive to.
        sessions: all open ones.
    """

    salt: str
    tokens: dict[Role, str]
    sessions: list[Session]


_CONTENT: TypeAdapter[_Content] = TypeAdapter(_Content)


class SessionFile:
    """A file of mode 0600. It holds hashes of credentials, and only those under the same tokens.

    Args:
        path: where it lies; its folder is made.
        tokens: of the roles. A session whose role has another token now has ended.
        lifetime_s: of a session, from when it was opened.
    """

    def __init__(self, path: Path, tokens: Mapping[Role, str], lifetime_s: float) -> None:
        self._path = path
        self._lifetime_s = lifetime_s
        self._tokens = dict(tokens)
        self._salt = secrets.token_hex(16)
        self._derived: dict[Role, str] | None = None
        self._failed = False

    def load(self) -> list[Session]:
        """Sessions that were saved; empty if the file is not ours or cannot be read."""
        self._remove_old()
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._warn(error)
            return []
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                self._warn("it belongs to another user, or others may use it")
                return []
            text = file.read(MAX_BYTES)
        try:
            content = _CONTENT.validate_json(text)
        except ValidationError as error:
            self._warn(f"it is not a file of sessions ({error.error_count()} errors)")
            return []
        self._salt = content.salt
        self._derived = _derive(self._tokens, content.salt)
        valid = {
            role
            for role, derived in self._derived.items()
            if secrets.compare_digest(derived, content.tokens.get(role, ""))
        }
        return [session for session in content.sessions if session.role in valid]

    def save(self, sessions: list[Session]) -> None:
        """Replace the file. Where that fails, sessions end with the backend; said once.

        The file before goes then: it may hold a session that has been ended.
        """
        if self._derived is None:
            self._derived = _derive(self._tokens, self._salt)
        content = {
            "salt": self._salt,
            "tokens": self._derived,
            "sessions": [asdict(session) for session in sessions],
        }
        beside = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                with os.fdopen(os.open(beside, flags, 0o600), "w") as file:
                    json.dump(content, file)
                beside.replace(self._path)
            finally:
                beside.unlink(missing_ok=True)
        except OSError as error:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            if not self._failed:
                self._warn(error)
            self._failed = True
        else:
            self._failed = False

    def _remove_old(self) -> None:
        """Remove files of other ports in which no session can be valid any more."""
        with suppress(OSError):
            for file in self._path.parent.glob(PATTERN):
                if time.time() - file.stat().st_mtime > self._lifetime_s:
                    file.unlink()

    def _warn(self, reason: object) -> None:
        _log.warning("sessions do not survive a restart: %s: %s", self._path, reason)


def _derive(tokens: Mapping[Role, str], salt: str) -> dict[Role, str]:
    """What stands for the tokens in the file. Slow, as a token may be one that a person chose."""
    return {
        role: hashlib.scrypt(
            token.encode(), salt=f"{role} {salt}".encode(), n=1 << 14, r=8, p=1
        ).hex()
        for role, token in tokens.items()
    }
