"""Collectors' sessions: frames and replies in, commands out. Must not know subscribers."""
