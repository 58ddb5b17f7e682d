"""What a policy steers on."""
