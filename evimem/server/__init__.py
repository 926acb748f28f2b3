"""Memories over HTTP: the REST server, the routes of mem0's clients, and the proxy before a chat model."""
