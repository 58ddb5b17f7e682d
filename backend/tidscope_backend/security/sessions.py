"""Sessions, which tokens are traded for, and their file, so that a restart signs nobody out."""

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
"""The time of the last use is written down no more often than this."""
MAX_LABEL = 200
PREFIX = "tds_"


@dataclass(frozen=True)
class Session:
    """One session.

    Attributes:
        id: names it in lists and logs; not secret.
        role: what it may do.
        label: what opened it: a browser's User-Agent, or the name of a program.
        address: of who opened it.
        opened_s: when, Unix seconds.
        used_s: when it was used last.
        expires_s: when it ends, used or not.
        digest: SHA-256 of its credential, which itself is not kept.
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
    """Keeps sessions over a restart."""

    def load(self) -> list[Session]:
        """The sessions saved last; empty if the file cannot be used."""
        ...

    def save(self, sessions: list[Session]) -> None:
        """Keep these and no others."""
        ...


class Sessions:
    """The sessions of one backend.

    Args:
        clock: Unix seconds.
        idle_s: a session that is not used for so long ends.
        lifetime_s: a session ends so long after it was opened.
        store: keeps them over a restart; None: they end with the backend.
        most: how many of each role there are at once.
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
        """Open a session. Where there are too many of its role, the one unused for longest ends.

        Args:
            role: what it may do.
            label: what opens it.
            address: of who opens it.
            lifetime_s: when it ends at the latest; None: as is usual.

        Returns:
            The session, and the credential that stands for it: it is known here and now only.
        """
        self.expire()
        same = [session for session in self._by_digest.values() if session.role == role]
        # One with an open socket is in use, whenever it was opened.
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
        """The session of a credential, which counts as used by it; None if it is of none."""
        session = self._by_digest.get(_digest(credential))
        if session is None:
            return None
        if self._is_over(session):
            self._end(session, "it has expired")
            self._save()
            return None
        return self._use(session)

    def get(self, session_id: str) -> Session | None:
        """The session with this id, if it is open."""
        return next((one for one in self._by_digest.values() if one.id == session_id), None)

    def list(self) -> list[Session]:
        """All open ones, those used last first."""
        self.expire()
        return sorted(self._by_digest.values(), key=lambda session: -session.used_s)

    def end(self, session_id: str) -> bool:
        """End a session and tell who listens to it; whether there was one."""
        session = self.get(session_id)
        if session is None:
            return False
        self._end(session, "it was signed out")
        self._save()
        return True

    def subscribe(self, session_id: str, on_end: Callable[[str], None]) -> Callable[[], None]:
        """Call `on_end` with the reason when a session ends; it counts as used until then.

        Returns:
            What ends the subscription.
        """
        listeners = self._listeners.setdefault(session_id, [])
        listeners.append(on_end)

        def unsubscribe() -> None:
            listeners.remove(on_end)
            if not listeners and self._listeners.get(session_id) is listeners:
                del self._listeners[session_id]

        return unsubscribe

    def expire(self) -> None:
        """End those whose time is over; call it now and then, so that their sockets close."""
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
    # The credential has 256 random bits: there is nothing to guess, so a fast hash will do.
    return hashlib.sha256(credential.encode()).hexdigest()


MAX_BYTES = 1 << 20
PATTERN = "sessions-*.json"
_log = logging.getLogger(__name__)


@validated_dataclass(frozen=True)
class _Content:
    """The content of the file.

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
    """Derive the values that stand for tokens in the file; slowly, as people may choose tokens."""
    return {
        role: hashlib.scrypt(
            token.encode(), salt=f"{role} {salt}".encode(), n=1 << 14, r=8, p=1
        ).hex()
        for role, token in tokens.items()
    }
