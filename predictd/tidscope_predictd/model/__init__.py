"""What a model computes: pure, the same in the daemon and in every client."""
