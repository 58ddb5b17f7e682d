"""Who may ask for what: hosts, origins, sessions, secrets. Pure ASGI, in front of everything."""
