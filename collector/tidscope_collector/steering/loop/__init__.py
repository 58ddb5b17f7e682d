"""The control loop: one thread for each steered target."""
