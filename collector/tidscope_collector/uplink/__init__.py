"""Connections to the backend: sign-in, commands, and the data connection that frames take.

Takes targets; gives commands to handlers. Must not know how samples are taken.
"""
