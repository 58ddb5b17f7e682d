"""Sessions opened with tokens, and a file that preserves them over restarts."""

import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated_dataclass
from tidscope_wire.generated.models import Role

MAX_SESSIONS = 64
"""Maximum sessions of each role."""
SAVE_SECONDS = 600.0
"""Minimum interval between writes of the time of last use, in seconds."""
MAX_LABEL = 200
PREFIX = "tds_"


@dataclass(frozen=True)
class Session:
    """An open session.

    Attributes:
        id: public ID for lists and logs.
        role: granted role.
        label: client: a browser's User-Agent, or a program's name.
        address: address of the client.
        opened_s: opening time, Unix seconds.
        used_s: time of last use.
        expires_s: expiry, regardless of use.
        digest: SHA-256 of the credential, which is not stored.
    """

    id: str
    role: Role
    label: str
    address: str
    opened_s: float
    used_s: float
    expires_s: float
    digest: str


class SessionStore(Protocol):
    """Stores sessions over a restart."""

    def load(self) -> list[Session]:
        """Return the sessions saved last; empty if the file cannot be used."""
        ...

    def save(self, sessions: list[Session]) -> None:
        """Replace the stored sessions by these."""
        ...


class Sessions:
    """The sessions of one backend.

    Args:
        clock: Unix seconds.
        idle_s: idle time after which a session ends.
        lifetime_s: maximum lifetime of a session.
        store: stores sessions over a restart; None: sessions end with the backend.
        most: maximum concurrent sessions per role.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        idle_s: float,
        lifetime_s: float,
        store: SessionStore | None = None,
        most: int = MAX_SESSIONS,
    ) -> None:
        self._clock = clock
        self._store = store
        self._idle_s = idle_s
        self._lifetime_s = lifetime_s
        self._most = most
        self._by_digest = {session.digest: session for session in store.load()} if store else {}
        self._listeners: dict[str, list[Callable[[str], None]]] = {}
        self._saved_s = clock()

    def open(
        self, role: Role, label: str, address: str, lifetime_s: float | None = None
    ) -> tuple[Session, str]:
        """Open a session. Beyond the maximum of a role, the least recently used session ends.

        Args:
            role: granted role.
            label: client.
            address: address of the client.
            lifetime_s: maximum lifetime, or None for the default.

        Returns:
            The session and its credential, which cannot be retrieved later.
        """
        self.expire()
        same = [session for session in self._by_digest.values() if session.role == role]
        # Sessions with an open socket are in use, regardless of age.
        same.sort(key=lambda session: (session.id in self._listeners, session.used_s))
        for session in same[: max(0, len(same) - self._most + 1)]:
            self._end(session, "too many sessions of its role were opened")
        now = self._clock()
        credential = PREFIX + secrets.token_urlsafe(32)
        opened = Session(
            id=secrets.token_hex(6),
            role=role,
            label=label[:MAX_LABEL],
            address=address,
            opened_s=now,
            used_s=now,
            expires_s=now + (self._lifetime_s if lifetime_s is None else lifetime_s),
            digest=_digest(credential),
        )
        self._by_digest[opened.digest] = opened
        self._save()
        return opened, credential

    def authenticate(self, credential: str) -> Session | None:
        """Return the session of a credential and mark it as used; None if there is none."""
        session = self._by_digest.get(_digest(credential))
        if session is None:
            return None
        if self._is_over(session):
            self._end(session, "it has expired")
            self._save()
            return None
        return self._use(session)

    def get(self, session_id: str) -> Session | None:
        """Return the open session with this ID, or None."""
        return next((one for one in self._by_digest.values() if one.id == session_id), None)

    def list(self) -> list[Session]:
        """Return all open sessions, most recently used first."""
        self.expire()
        return sorted(self._by_digest.values(), key=lambda session: -session.used_s)

    def end(self, session_id: str) -> bool:
        """End a session and notify its listeners. Return True if it was open."""
        session = self.get(session_id)
        if session is None:
            return False
        self._end(session, "it was signed out")
        self._save()
        return True

    def subscribe(self, session_id: str, on_end: Callable[[str], None]) -> Callable[[], None]:
        """Call `on_end` with the reason when a session ends. Until then the session is in use.

        Returns:
            Function that ends the subscription.
        """
        listeners = self._listeners.setdefault(session_id, [])
        listeners.append(on_end)

        def unsubscribe() -> None:
            listeners.remove(on_end)
            if not listeners and self._listeners.get(session_id) is listeners:
                del self._listeners[session_id]

        return unsubscribe

    def expire(self) -> None:
        """End expired sessions; call regularly, so that their sockets close."""
        for session in [one for one in self._by_digest.values() if one.id in self._listeners]:
            self._use(session)
        over = [session for session in self._by_digest.values() if self._is_over(session)]
        for session in over:
            self._end(session, "it has expired")
        if over:
            self._save()

    def _is_over(self, session: Session) -> bool:
        now = self._clock()
        return now >= session.expires_s or now - session.used_s >= self._idle_s

    def _use(self, session: Session) -> Session:
        used = replace(session, used_s=self._clock())
        self._by_digest[session.digest] = used
        if self._clock() - self._saved_s >= min(SAVE_SECONDS, self._idle_s):
            self._save()
        return used

    def _end(self, session: Session, reason: str) -> None:
        del self._by_digest[session.digest]
        for on_end in list(self._listeners.pop(session.id, ())):
            on_end(reason)

    def _save(self) -> None:
        self._saved_s = self._clock()
        if self._store is not None:
            self._store.save(list(self._by_digest.values()))


def _digest(credential: str) -> str:
    # The credential has 256 random bits and cannot be guessed, so a fast hash suffices.
    return hashlib.sha256(credential.encode()).hexdigest()


MAX_BYTES = 1 << 20
PATTERN = "sessions-*.json"
_log = logging.getLogger(__name__)


@validated_dataclass(frozen=True)
class _Content:
    """The content of the file.

    Attributes:
        salt: random salt, hexadecimal.
        tokens: value derived from each role's token and the salt.
        sessions: all open sessions.
    """

    salt: str
    tokens: dict[Role, str]
    sessions: list[Session]


_CONTENT: TypeAdapter[_Content] = TypeAdapter(_Content)


class SessionFile:
    """File of mode 0600 with hashes of credentials; valid only under the same tokens.

    Args:
        path: path of the file; its folder is created.
        tokens: tokens of the roles. A changed token ends the role's sessions.
        lifetime_s: maximum lifetime of a session.
    """

    def __init__(self, path: Path, tokens: Mapping[Role, str], lifetime_s: float) -> None:
        self._path = path
        self._lifetime_s = lifetime_s
        self._tokens = dict(tokens)
        self._salt = secrets.token_hex(16)
        self._derived: dict[Role, str] | None = None
        self._failed = False

    def load(self) -> list[Session]:
        """Return the saved sessions; empty if the file is unreadable or another user's."""
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
        """Replace the file. On failure, sessions end with the backend; a warning is logged once.

        The old file is removed on failure, because it may contain an ended session.
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
        """Remove files of other ports in which all sessions have expired."""
        with suppress(OSError):
            for file in self._path.parent.glob(PATTERN):
                if time.time() - file.stat().st_mtime > self._lifetime_s:
                    file.unlink()

    def _warn(self, reason: object) -> None:
        _log.warning("sessions do not survive a restart: %s: %s", self._path, reason)


def _derive(tokens: Mapping[Role, str], salt: str) -> dict[Role, str]:
    """Derive the values that represent tokens in the file; slow, since users choose tokens."""
    return {
        role: hashlib.scrypt(
            token.encode(), salt=f"{role} {salt}".encode(), n=1 << 14, r=8, p=1
        ).hex()
        for role, token in tokens.items()
    }
