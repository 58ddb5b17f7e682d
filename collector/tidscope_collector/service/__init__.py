"""The collector as a service."""
