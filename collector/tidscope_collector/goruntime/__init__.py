"""What can be seen of a Go program from outside."""
