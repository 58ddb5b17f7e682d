"""Collectors' sessions: frames and replies in, commands out. Knows no pages."""
