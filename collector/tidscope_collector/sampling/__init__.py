"""From readings to frames: schedule, what is new, what changed, what ended."""
