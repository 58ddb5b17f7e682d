"""A lively many-threaded program to look at, and what starts it."""
