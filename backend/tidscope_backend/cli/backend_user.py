"""Whom the backend becomes: it needs no rights, so it keeps none."""

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
"""Root's backend becomes this user, if there is one and no folder of root's is in use."""
_PR_GET_PDEATHSIG = 2


@dataclass(frozen=True)
class BackendUser:
    """A user to run as.

    Attributes:
        name: of the user, or the uid as text if it has none.
        uid: user id.
        gid: primary group id.
        groups: supplementary group ids.
        home: home directory.
        folders: variables that name folders of this user, whatever its home.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    folders: tuple[tuple[str, str], ...] = ()

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment, with this user's name and home, and no folders of another."""
        own = {name: value for name, value in base.items() if not name.startswith("XDG_")}
        return {**own, "HOME": self.home, "USER": self.name, "LOGNAME": self.name} | dict(
            self.folders
        )

    def become(self) -> None:
        """Have this process be this user, for good. Raises OSError."""
        libc = CDLL(None, use_errno=True)
        # A process that becomes another user loses the signal at its parent's end.
        number = c_int(0)
        libc.prctl(_PR_GET_PDEATHSIG, byref(number), 0, 0, 0)
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        libc.prctl(PR_SET_PDEATHSIG, number.value, 0, 0, 0)

    def check_can_run(self) -> None:
        """Check that this user may read the installation, which can lie in a private folder.

        Raises:
            CommandError: it may not.
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
    """Decide whom the backend becomes.

    Args:
        user: name asked for, if any.
        environ: where sudo left who called it.
        euid: of this process.

    Returns:
        None to stay who we are.

    Raises:
        CommandError: the user does not exist, or we may not become it.
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
    """Decide whom a backend becomes that root starts, by who can use its folders.

    Beyond `choose_backend_user`: the owner of the state folder and of the runs directory; where
    neither exists, SYSTEM_USER if there is one. Where they are root's it stays user 0.

    Raises:
        CommandError: the user does not exist, or we may not become it.
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
    """The user that a backend becomes, who may read the installation.

    Args:
        user: name asked for, if any.
        environ: of this process.

    Returns:
        None to stay who we are; also where the owner of the folders cannot run tidscope, which is
        said.

    Raises:
        CommandError: the user that was asked for cannot be had, or the caller of sudo cannot run
            this installation.
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
    """The environment as this user's; that of this process is changed likewise."""
    own = user.environ(os.environ)
    os.environ.clear()
    os.environ.update(own)
    return user.environ(environ)


def give_up_rights(user: BackendUser | None) -> str:
    """Become a user and give up root's rights, for good; a process with one thread.

    Args:
        user: None to stay who we are.

    Returns:
        What does not confine this process, or "".

    Raises:
        CommandError: the kernel refuses.
    """
    try:
        if user is not None and user.uid != os.geteuid():
            # Bounding set and secure bits are root's to give up.
            capabilities.harden()
            user.become()
            # The secure bits keep the kernel from doing this as the user changes.
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
    """Have this thread make files as another user: credentials of files are a thread's own."""
    if user is not None:
        libc = CDLL(None)
        libc.setfsgid(user.gid)
        libc.setfsuid(user.uid)
