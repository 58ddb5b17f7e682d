"""A run that is cut out of the ring of another host, as the pieces of its archive."""

from collections.abc import AsyncIterator

from tidscope_wire.generated.limits import MAX_IMPORT_BYTES
from tidscope_wire.generated.models import RingCut
from tidscope_wire.problems import refusal

from tidscope_backend.ingest.link import CollectorLink


async def pieces_of_cut(link: CollectorLink, cut: RingCut) -> AsyncIterator[bytes]:
    """Have a host cut a run, and yield its archive.

    Raises:
        ProblemError: the host refused, or its archive is too large or incomplete.
    """
    made = await link.cut_ring(cut)
    if made.bytes > MAX_IMPORT_BYTES:
        raise refusal(
            "too-large", f"the window has {made.bytes:,} bytes", "choose a shorter window"
        )
    offset = 0
    while offset < made.bytes:
        piece = await link.read_cut(made.cut, offset)
        if not piece:
            raise refusal(
                "bad-run", f"{link.host.name} sent {offset:,} of {made.bytes:,} bytes", "try again"
            )
        yield piece
        offset += len(piece)
