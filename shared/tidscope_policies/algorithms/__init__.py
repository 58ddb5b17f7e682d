"""One policy a file, and the models that they share."""
