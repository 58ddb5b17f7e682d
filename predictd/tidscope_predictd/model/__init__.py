"""Model computations: pure, identical in the daemon and in every client."""
