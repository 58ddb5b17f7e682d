"""The critical path of one trace, and what it tells of a change to it."""
