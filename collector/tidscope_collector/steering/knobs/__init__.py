"""What is turned: one contract, and a file for each kind of knob."""
