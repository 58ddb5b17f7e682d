"""The user that the backend runs as. The backend needs no privileges, so it keeps none."""

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from ctypes import CDLL, byref, c_int
from dataclasses import dataclass, replace
from pathlib import Path

from tidscope_confinement import capabilities

from tidscope_backend.cli.command import CommandError, print_lines
from tidscope_backend.collector_launcher import confine_backend
from tidscope_backend.processes import PR_SET_PDEATHSIG
from tidscope_backend.settings import RUNS_VARIABLE, runs_directory, state_directory

SYSTEM_USER = "tidscope"
"""User of a backend started by root, if the user exists and no folder of root's is in use."""
_PR_GET_PDEATHSIG = 2


@dataclass(frozen=True)
class BackendUser:
    """A user to run as.

    Attributes:
        name: name of the user, or the uid as text.
        uid: user id.
        gid: primary group id.
        groups: supplementary group ids.
        home: home directory.
        folders: environment variables that name folders of this user, independent of the home.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    folders: tuple[tuple[str, str], ...] = ()

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the environment with this user's name, home and folders only."""
        own = {name: value for name, value in base.items() if not name.startswith("XDG_")}
        return {**own, "HOME": self.home, "USER": self.name, "LOGNAME": self.name} | dict(
            self.folders
        )

    def become(self) -> None:
        """Switch this process to the user permanently. Raises OSError."""
        libc = CDLL(None, use_errno=True)
        # Changing the user clears the parent-death signal, so set it again.
        number = c_int(0)
        libc.prctl(_PR_GET_PDEATHSIG, byref(number), 0, 0, 0)
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        libc.prctl(PR_SET_PDEATHSIG, number.value, 0, 0, 0)

    def check_can_run(self) -> None:
        """Check that the user may read the installation, which may be in a private folder.

        Raises:
            CommandError: the user may not read the installation.
        """
        try:
            done = subprocess.run(
                [sys.executable, "-c", "import tidscope_backend"],
                user=self.uid,
                group=self.gid,
                extra_groups=self.groups,
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
            reason = done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
        except OSError as error:
            reason = f"{sys.executable}: {error.strerror}"
        if reason:
            raise CommandError(
                f"{self.name} cannot run this installation ({reason}); put it where that user "
                "may read it, such as under /opt, or name another with --user NAME"
            )


def choose_backend_user(
    user: str | None, environ: Mapping[str, str], euid: int
) -> BackendUser | None:
    """Choose the user that the backend runs as.

    Args:
        user: requested name, or None.
        environ: environment, in which sudo records the calling user.
        euid: effective uid of this process.

    Returns:
        The user, or None to keep the current one.

    Raises:
        CommandError: the user does not exist, or this process may not become the user.
    """
    if user is not None:
        return _named(user, euid)
    if euid != 0 or int(environ.get("SUDO_UID", "0")) == 0:
        return None
    uid, gid = int(environ["SUDO_UID"]), int(environ.get("SUDO_GID", "0"))
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return BackendUser(str(uid), uid, gid, (gid,), "/")
    return _account(entry, gid)


def choose_server_user(
    user: str | None, environ: Mapping[str, str], euid: int
) -> BackendUser | None:
    """Choose the user of a backend started by root, by ownership of its folders.

    Extends `choose_backend_user` by the owner of the state folder and of the runs directory.
    Without either folder, SYSTEM_USER is chosen if that user exists. The backend stays user 0 if
    root owns the folders.

    Raises:
        CommandError: the user does not exist, or this process may not become the user.
    """
    chosen = choose_backend_user(user, environ, euid)
    if chosen is not None or euid != 0 or user is not None:
        return chosen
    state, runs = state_directory(environ), runs_directory(environ)
    owners = {found for folder in (state, runs) if (found := _owner(folder)) is not None}
    try:
        if not owners:
            entry = pwd.getpwnam(SYSTEM_USER)
            return _account(entry, entry.pw_gid)
        if len(owners) > 1 or 0 in owners:
            return None
        entry = pwd.getpwuid(owners.pop())
    except KeyError:
        return None
    folders = [("XDG_STATE_HOME", str(state.parent))] if state is not None else []
    if runs is not None:
        folders.append((RUNS_VARIABLE, str(runs)))
    return replace(_account(entry, entry.pw_gid), folders=tuple(folders))


def user_who_can_run(user: str | None, environ: Mapping[str, str]) -> BackendUser | None:
    """Return the user of the backend, who must be able to read the installation.

    Args:
        user: requested name, or None.
        environ: environment of this process.

    Returns:
        The user, or None to keep the current one. If the owner of the folders cannot run tidscope,
        None with a printed warning.

    Raises:
        CommandError: the requested user is unavailable, or sudo's caller cannot run this
            installation.
    """
    euid = os.geteuid()
    if euid == 0 and user is None and capabilities.SETUID not in capabilities.held():
        return None
    chosen = choose_server_user(user, environ, euid)
    if chosen is None or chosen.uid == euid:
        return chosen
    try:
        chosen.check_can_run()
    except CommandError as error:
        if user is not None or choose_backend_user(None, environ, euid) is not None:
            raise
        print_lines(f"tidscope: {error}", file=sys.stderr, flush=True)
        return None
    return chosen


def _owner(folder: Path | None) -> int | None:
    try:
        return None if folder is None else folder.stat().st_uid
    except OSError:
        return None


def adopt(user: BackendUser, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment, and change this process's environment to match."""
    own = user.environ(os.environ)
    os.environ.clear()
    os.environ.update(own)
    return user.environ(environ)


def give_up_rights(user: BackendUser | None) -> str:
    """Switch to a user and drop root's privileges permanently, in a single-threaded process.

    Args:
        user: None to keep the current user.

    Returns:
        Description of a missing confinement, or "".

    Raises:
        CommandError: the kernel refuses.
    """
    try:
        if user is not None and user.uid != os.geteuid():
            # Only root can drop the bounding set and set the secure bits.
            capabilities.harden()
            user.become()
            # The secure bits prevent the kernel from dropping capabilities with the change of user.
            capabilities.keep(frozenset())
        return confine_backend()
    except OSError as error:
        raise CommandError(f"root's rights cannot be given up: {error}") from None


def _named(user: str, euid: int) -> BackendUser:
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise CommandError(f"--user {user}: there is no such user") from None
    if euid not in (0, entry.pw_uid):
        raise CommandError(f"--user {user}: only root can become another user; leave it out")
    return _account(entry, entry.pw_gid)


def _account(entry: pwd.struct_passwd, gid: int) -> BackendUser:
    groups = tuple(os.getgrouplist(entry.pw_name, gid))
    return BackendUser(entry.pw_name, entry.pw_uid, gid, groups, entry.pw_dir)


def act_as(user: BackendUser | None) -> None:
    """Have this thread create files as another user; file credentials are per thread."""
    if user is not None:
        libc = CDLL(None)
        libc.setfsgid(user.gid)
        libc.setfsuid(user.uid)


def act_as_ourselves() -> None:
    """End `act_as` in this thread."""
    libc = CDLL(None)
    libc.setfsuid(os.geteuid())
    libc.setfsgid(os.getegid())
