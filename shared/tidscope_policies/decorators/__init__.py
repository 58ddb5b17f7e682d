"""Behaviour that wraps any policy: bounds, pauses, warm-up, shadow mode, dips."""
