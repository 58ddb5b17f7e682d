"""Live frames to pages: a bounded history and one bounded queue per page, coalesced if slow."""
