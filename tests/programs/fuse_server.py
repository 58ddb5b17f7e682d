"""A file system that stops to answer at a command: a disk or a network that hangs.

`python fuse_server.py FOLDER FILE` mounts it at FOLDER, serves FILE as FOLDER/program and a page
that begins with the number 5 as FOLDER/page, and says "mounted". Between one line on its standard
input and the next it takes requests and answers none, so that not even a kill ends who waits for
them. At the end of its standard input it unmounts.
Wire format: linux/fuse.h, version 7.31.
"""

import ctypes
import errno
import os
import select
import stat
import struct
import sys
from pathlib import Path

_MS_NOSUID, _MS_NODEV, _MNT_DETACH = 2, 4, 2
_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ, _RELEASE = 1, 2, 3, 14, 15, 18
_FLUSH, _INIT, _OPENDIR, _RELEASEDIR, _INTERRUPT, _BATCH_FORGET = 25, 26, 27, 29, 36, 42
_NO_REPLY = (_FORGET, _BATCH_FORGET, _INTERRUPT)
_ROOT, _PROGRAM, _PAGE = 1, 2, 3
_NODES = {b"program": _PROGRAM, b"page": _PAGE}

_libc = ctypes.CDLL(None, use_errno=True)


def _attributes(node: int, size: int) -> bytes:
    mode = stat.S_IFDIR | 0o755 if node == _ROOT else stat.S_IFREG | 0o755
    return struct.pack(
        "<6Q10I", node, size, -(-size // 512), 1, 1, 1, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0
    )


def _reply(operation: int, node: int, body: bytes, contents: dict[int, bytes]) -> bytes | int:
    """Return the answer to a request; a number is an errno."""
    content, reply = contents.get(node, b""), b""
    match operation:
        case x if x == _INIT:
            reply = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 16, 16, 1 << 17, 1, 0, 0, 0)
        case x if x == _LOOKUP:
            node = _NODES.get(body.rstrip(b"\0"), 0)
            if not node:
                return errno.ENOENT
            # Nothing is valid for any time: each lookup comes here.
            reply = struct.pack("<QQQQII", node, 1, 0, 0, 0, 0)
            reply += _attributes(node, len(contents[node]))
        case x if x == _GETATTR:
            reply = struct.pack("<QII", 0, 0, 0) + _attributes(node, len(content))
        case x if x in (_OPEN, _OPENDIR):
            reply = struct.pack("<QII", 0, 0, 0)
        case x if x == _READ:
            _, offset, most = struct.unpack_from("<QQI", body)
            reply = content[offset : offset + most]
        case x if x not in (_RELEASE, _RELEASEDIR, _FLUSH):
            return errno.ENOSYS
    return reply


class _Server:
    def __init__(self, device: int, contents: dict[int, bytes]) -> None:
        self._device, self._contents = device, contents
        self._waiting: list[bytes] = []
        self.hangs = False

    def serve(self) -> None:
        """Take requests until there is something on standard input."""
        while True:
            ready, _, _ = select.select([self._device, 0], [], [])
            if 0 in ready:
                return
            self._waiting.append(os.read(self._device, 1 << 18))
            if not self.hangs:
                self.answer()

    def answer(self) -> None:
        """Answer all that wait."""
        for request in self._waiting:
            _, operation, unique, node = struct.unpack_from("<IIQQ", request)
            if operation in _NO_REPLY:
                continue
            found = _reply(operation, node, request[40:], self._contents)
            error, data = (-found, b"") if isinstance(found, int) else (0, found)
            try:
                os.write(self._device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
            except FileNotFoundError:
                continue  # The requester has gone.
        self._waiting.clear()


def main(folder: str, file: str) -> None:
    """Mount, serve, hang, unmount."""
    contents = {_PROGRAM: Path(file).read_bytes(), _PAGE: struct.pack("<i", 5).ljust(4096, b"x")}
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    flags = _MS_NOSUID | _MS_NODEV
    if _libc.mount(b"hangs", folder.encode(), b"fuse", flags, options) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    try:
        print("mounted", flush=True)
        server = _Server(device, contents)
        server.serve()
        while os.read(0, 1):
            server.hangs = not server.hangs
            if not server.hangs:
                server.answer()
            print("hangs" if server.hangs else "answers", flush=True)
            server.serve()
    finally:
        _libc.umount2(folder.encode(), _MNT_DETACH)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
