"""Steering: knobs, signals, and a control loop for each steered target."""
