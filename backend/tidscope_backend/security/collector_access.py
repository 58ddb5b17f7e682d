"""Which secrets there are, and for which host each of them speaks."""

import logging
from collections.abc import Callable, Sequence

from starlette.types import Scope
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.proof import (
    DEFAULT_HOST_NAME,
    collector_subject,
    host_credential,
    stretch,
)

from tidscope_backend.security.host_file import MAX_HOST_IDS, HostFile, HostFileError
from tidscope_backend.security.proofs import Proven
from tidscope_backend.settings import Settings
from tidscope_backend.websocket_close import CloseError

_log = logging.getLogger(__name__)
_PREFIX = collector_subject("")
_AUTHORITY = "tidscope.authority"
DEFAULT = collector_subject(DEFAULT_HOST_NAME)


class SecretKeys:
    """Keys of all subjects: tokens, the default collector's secret, and the hosts' own.

    Args:
        settings: has the tokens and the default collector's secret.
        hosts: the secrets of hosts; None: there are none.
        unix_clock: seconds.
    """

    def __init__(
        self, settings: Settings, hosts: HostFile | None, unix_clock: Callable[[], float]
    ) -> None:
        self._hosts = hosts
        self._unix_clock = unix_clock
        self._derive: dict[str, Callable[[], bytes]] = {
            "operator": lambda: stretch("operator", settings.token),
            "viewer": lambda: stretch("viewer", settings.view_token),
            DEFAULT: lambda: host_credential(settings.collector_secret).key,
        }
        self._derived: dict[str, bytes] = {}
        self._said = ""

    def is_slow(self, subject: str) -> bool:
        """Whether the next `valid` takes some 30 ms, as the first one of a subject does."""
        return subject in self._derive and subject not in self._derived

    def valid(self, subject: str) -> Sequence[bytes]:
        """Keys of a subject that are good now, the newest first; none if it is unknown."""
        if subject in self._derive:
            if subject not in self._derived:
                self._derived[subject] = self._derive[subject]()
            return (self._derived[subject],)
        if self._hosts is None or not subject.startswith(_PREFIX):
            return ()
        try:
            entry = self._hosts.entries().get(subject.removeprefix(_PREFIX))
        except HostFileError as error:
            self._say(str(error))
            return ()
        return entry.keys(self._unix_clock()) if entry is not None else ()

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            _log.error("%s", text)


class HostClaims:
    """Each secret speaks for one host, and each host has one secret.

    A host's id is that of its boot, so a secret may go over to a new id once the host of the old
    one is no longer connected. A host id never goes over to another secret.

    Args:
        hosts: where it is noted which host a secret belongs to; for the default collector's secret
            it is known as long as this process lives.
    """

    def __init__(self, hosts: HostFile | None) -> None:
        self._hosts = hosts
        self._default: list[str] = []

    def claim(self, subject: str, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """A collector that has proven a secret says that it is of a host.

        Args:
            subject: whose secret it is.
            host_id: of the hello.
            is_connected: whether the collector of a host id is connected now.

        Raises:
            CloseError: another secret speaks for that host, or the secret for another host.
        """
        try:
            self._claim(subject, host_id, is_connected)
        except HostFileError as error:
            raise CloseError(CloseCode.WRONG_HOST, str(error)) from None

    def _claim(self, subject: str, host_id: str, is_connected: Callable[[str], bool]) -> None:
        entries = self._hosts.entries() if self._hosts is not None else {}
        owned = {collector_subject(name): entry.host_ids for name, entry in entries.items()}
        owned[DEFAULT] = tuple(self._default)
        for owner, host_ids in owned.items():
            if owner != subject and host_id in host_ids:
                raise CloseError(
                    CloseCode.WRONG_HOST,
                    f"host {host_id} has the secret of {owner}, not of {subject}",
                )
        mine = owned.get(subject, ())
        if mine and mine[-1] == host_id:
            return
        if mine and is_connected(mine[-1]):
            raise CloseError(
                CloseCode.WRONG_HOST,
                f"the secret of {subject} is of host {mine[-1]}, not {host_id}",
            )
        if subject == DEFAULT:
            others = [one for one in mine if one != host_id]
            self._default = [*others, host_id][-MAX_HOST_IDS:]
        elif self._hosts is not None:
            self._hosts.pin(subject.removeprefix(_PREFIX), host_id)


class CollectorAuthority:
    """What one collector may speak for, by the secret that it has proven.

    Args:
        proven: what it has proven.
        keys: that are good now.
        claims: which host each secret speaks for.
    """

    def __init__(self, proven: Proven, keys: SecretKeys, claims: HostClaims) -> None:
        self.accepted = proven.accepted
        self._proven, self._keys, self._claims = proven, keys, claims

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """It says that it is of this host. Raises CloseError if its secret is not that host's."""
        self._claims.claim(self._proven.subject, host_id, is_connected)

    def check(self) -> None:
        """Raises CloseError if its secret is no longer valid."""
        if self._proven.key not in self._keys.valid(self._proven.subject):
            raise CloseError(
                CloseCode.UNAUTHENTICATED,
                f"the secret of {self._proven.subject} is not valid any more",
            )


def set_authority(scope: Scope, authority: CollectorAuthority) -> None:
    """Note what the collector of a request may speak for."""
    scope[_AUTHORITY] = authority


def authority_of(scope: Scope) -> CollectorAuthority:
    """What the collector of a request that was let through may speak for."""
    authority: CollectorAuthority = scope[_AUTHORITY]
    return authority
