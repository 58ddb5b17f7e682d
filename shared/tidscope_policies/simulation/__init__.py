"""Simulated pools that policies are scored on."""
