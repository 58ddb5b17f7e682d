"""Steering: signals, policies, knobs, and the loop that wires them together."""
