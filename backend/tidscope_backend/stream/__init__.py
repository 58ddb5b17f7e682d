"""From the collectors' frames to the pages: history, coalescing, one bounded queue a page."""
