"""Divides cores among programs."""
