"""A demo program with many busy threads, and its launcher."""
