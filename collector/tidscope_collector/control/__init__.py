"""Steers the size of a thread pool: policies decide, the bench judges them."""
