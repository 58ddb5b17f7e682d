"""The role of a thread. The page has the same rule (frontend/src/stream/role.ts).

A role is a name without the number of the thread: each run of digits is one #, with a # that stands
before it, so `worker-12` is a `worker-#` and `GC Thread#3` a `GC Thread#`. Digits that belong to a
word stay: those of `WORDS`, and a capital letter with one digit that begins a name of several words
(`C1 CompilerThread0`, `G1 Main Marker`). Whoever knows better gives rules of his own.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

_WORDS = """
    v4 v6 ip4 ip6 ipv4 ipv6 tcp4 tcp6 udp4 udp6 icmp6 nfs4 nfsd4 nfsv3 nfsv4 l2cap p2p
    x86 x64 i386 i686 i915 amd64 arm64 riscv64 win32 ext2 ext3 ext4 jbd2 f2fs raid0 raid1 raid5
    raid6 raid10 utf8 utf16 base64 md5 sha1 sha256 sha512 crc32 crc32c lz4 bz2 h2 h264 h265 http1
    http2 http3 html5 mp3 mp4 oauth2 s3 k8s log4j log4j2 slf4j nio2 sqlite3 v8 v8worker db2 neo4j
    x264 x265 cc1 python2 python3 php7 php8 lua5 perl5 qt5 qt6 gtk3 gtk4 wine64 k3s
"""
WORDS = frozenset(_WORDS.split())
"""Lower-case words whose digits are part of the name: protocols, architectures, programs."""

_PART = re.compile("#[0-9]+|[0-9A-Za-z]+")
_DIGITS = re.compile("[0-9]+")
_KIND = re.compile("[A-Z][0-9] [A-Za-z]")


class RoleRule(NamedTuple):
    """User-defined rule for roles.

    Attributes:
        pattern: matches whole thread names; * stands for any characters, ? for one.
        role: role of matching threads; `KEEP` makes each name a role.
    """

    pattern: str
    role: str


KEEP = "*"


def role_of(name: str, rules: Sequence[RoleRule] = ()) -> str:
    """Role of a thread by its name.

    Digits are 0 to 9 only, in the page too; `tests/contract/roles.json` holds the two together.

    Args:
        name: of the thread.
        rules: the first match overrides the general rule.
    """
    for rule in rules:
        if _compiled(rule.pattern).fullmatch(name):
            return name if rule.role == KEEP else rule.role
    begin = 2 if _KIND.match(name) else 0
    return name[:begin] + _PART.sub(_without_number, name[begin:])


def _without_number(part: re.Match[str]) -> str:
    word = part[0]
    if word[0] == "#":
        return "#"
    return word if word.lower() in WORDS else _DIGITS.sub("#", word)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    signs = {"*": ".*", "?": "."}
    text = "".join(signs.get(sign) or re.escape(sign) for sign in pattern)
    return re.compile(text, re.DOTALL)
