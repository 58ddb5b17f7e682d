"""Genetlink taskstats: per-thread counters in batches, and the totals of threads that exit."""
