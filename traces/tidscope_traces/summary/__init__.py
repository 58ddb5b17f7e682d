"""Common properties of many traces' critical paths, and their differences."""
