"""Sessions: what a token is traded for. They expire, and they can be ended."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from tidscope_wire.generated.models import Role

MAX_SESSIONS = 64
"""Of each role."""
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
        """What was saved last; empty if that cannot be used."""
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
