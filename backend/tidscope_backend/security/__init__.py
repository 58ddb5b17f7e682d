"""Access control: requests in, principals or refusals out. Pure ASGI, in front of every route."""
