"""Everything that comes from collectors goes through here to the history and to the pages."""

from tidscope_wire.generated.models import FramesLost, LiveState

from tidscope_backend.hidden_arguments import state_without
from tidscope_backend.stream.history_store import HistoryStore
from tidscope_backend.stream.page import Page
from tidscope_backend.stream.stored_frame import StoredFrame


def state_text(state: LiveState, sees_arguments: bool) -> str:
    """Hosts and targets as a message; without arguments of programs for who must not see them."""
    return (state if sees_arguments else state_without(state)).model_dump_json()


class Fanout:
    """Holds the connected pages.

    Args:
        store: the kept frames.
    """

    def __init__(self, store: HistoryStore) -> None:
        self.store = store
        self.frames = 0
        self.frame_bytes = 0
        self.lost = 0
        self.gaps = 0
        self._pages: set[Page] = set()
        self._gone_coalesced = 0
        self._gone_dropped = 0
        self._gone_notices = 0

    @property
    def pages(self) -> int:
        """Pages connected."""
        return len(self._pages)

    @property
    def coalesced(self) -> int:
        """Frames that pages got merged, those of pages that have gone included; it never falls."""
        return self._gone_coalesced + sum(page.coalesced for page in self._pages)

    @property
    def merged(self) -> int:
        """Frames that are merged into others which wait for pages."""
        return sum(page.merged for page in self._pages)

    @property
    def dropped(self) -> int:
        """Frames that a page never got, those of pages that have gone included."""
        return self._gone_dropped + sum(page.dropped for page in self._pages)

    @property
    def notices_dropped(self) -> int:
        """Losses and problems not reported to a page, those of pages that have gone included."""
        return self._gone_notices + sum(page.notices_dropped for page in self._pages)

    @property
    def queued(self) -> int:
        """Frames that wait for pages now."""
        return sum(page.waiting for page in self._pages)

    def add(self, page: Page) -> None:
        """A page has connected."""
        self._pages.add(page)

    def remove(self, page: Page) -> None:
        """A page has gone."""
        self._pages.discard(page)
        self._gone_coalesced += page.coalesced
        self._gone_dropped += page.dropped
        self._gone_notices += page.notices_dropped

    def publish(self, frame: StoredFrame) -> None:
        """A frame has come."""
        self.frames += 1
        self.frame_bytes += len(frame.data)
        self.store.add(frame)
        for page in self._pages:
            page.enqueue(frame)

    def publish_lost(self, lost: FramesLost, count: int) -> None:
        """Frames did not come.

        Args:
            lost: what is sent to the pages.
            count: how many of them the backend had reason to expect.
        """
        self.lost += count
        self.gaps += count > 0
        for page in self._pages:
            page.enqueue_loss(lost)

    def publish_state(self, state: LiveState) -> None:
        """Hosts or targets have changed."""
        texts: dict[bool, str] = {}
        for page in self._pages:
            sees = page.sees_arguments
            if sees not in texts:
                texts[sees] = state_text(state, sees)
            page.enqueue_state(texts[sees])

    def publish_stats(self) -> None:
        """A second has passed."""
        for page in self._pages:
            page.enqueue_stats(len(self._pages))
