"""Replay: a recorded run as frames again."""
