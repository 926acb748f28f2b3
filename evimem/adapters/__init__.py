"""Doors for other programs: an MCP server, and memories in the shapes that agent frameworks expect.

Nothing here is imported by the rest of the package but the command line; each module imports its framework, and without
it raises MissingExtra with the name of the extra.
"""
