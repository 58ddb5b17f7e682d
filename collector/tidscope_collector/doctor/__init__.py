"""Checks what a machine lets tidscope measure, and says how to fix what it does not."""
