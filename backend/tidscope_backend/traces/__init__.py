"""Spans, received and imported: stored beside the runs, and joined with samples of threads."""
