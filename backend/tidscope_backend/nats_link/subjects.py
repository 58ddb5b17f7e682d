"""Subjects of hosts: one tree for each, so that a key's permissions name one host. Pure.

`tidscope.HOST.here` and `.roles` are for all backends; `tidscope.HOST.to.SESSION` and
`.from.SESSION` carry the session of one backend. A NATS token has no dot and a host name no
underscore, so one stands for the other.
"""

from typing import NamedTuple

ROOT = "tidscope"
HERE, ROLES, TO, FROM = "here", "roles", "to", "from"
ALL_HERE, ALL_ROLES = f"{ROOT}.*.{HERE}", f"{ROOT}.*.{ROLES}"


class Subjects(NamedTuple):
    """Subjects of one host.

    Attributes:
        host: name of the host.
    """

    host: str

    @property
    def _tree(self) -> str:
        return f"{ROOT}.{self.host.replace('.', '_')}"

    @property
    def here(self) -> str:
        """Subject on which the host says that it is there."""
        return f"{self._tree}.{HERE}"

    @property
    def roles(self) -> str:
        """Subject of the totals by role."""
        return f"{self._tree}.{ROLES}"

    @property
    def to_all(self) -> str:
        """Subjects of what all backends send to the host."""
        return f"{self._tree}.{TO}.*"

    def to(self, session: str) -> str:
        """Return the subject of what a backend sends to the host."""
        return f"{self._tree}.{TO}.{session}"

    def from_(self, session: str) -> str:
        """Return the subject of what the host sends to a backend."""
        return f"{self._tree}.{FROM}.{session}"

    def permissions(self) -> str:
        """Return the permissions of the host's key, as nats-server's configuration has them."""
        own = f'"{self.here}", "{self.roles}", "{self._tree}.{FROM}.*"'
        return f'{{ publish: [{own}], subscribe: ["{self.to_all}"] }}'


BACKEND_PERMISSIONS = (
    f'{{ publish: ["{ROOT}.*.{TO}.*"], subscribe: ["{ROOT}.*.{HERE}", "{ROOT}.*.{ROLES}", '
    f'"{ROOT}.*.{FROM}.*"] }}'
)
"""Permissions of a backend's key."""


def host_of(subject: str) -> str:
    """Return the name of the host whose tree a subject belongs to."""
    return subject.split(".")[1].replace("_", ".")


def session_of(subject: str) -> str:
    """Return the session of a subject of one session."""
    return subject.rpartition(".")[2]
