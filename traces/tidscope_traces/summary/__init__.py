"""What the critical paths of many traces have in common, and how they differ."""
