"""Checks what a machine lets tidscope measure, and says how to mend what it does not."""
