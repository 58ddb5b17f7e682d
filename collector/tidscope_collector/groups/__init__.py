"""Targets of several processes: who belongs to them, their readings, and what each adds up to."""
