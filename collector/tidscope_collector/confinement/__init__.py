"""What keeps a process from doing more than it must."""
