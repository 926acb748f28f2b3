"""Doors for other programs: an MCP server, spans for OpenTelemetry, and memories in the shapes of agent frameworks.

Nothing here is imported by the rest of the package but the command line; each module imports its framework, and without
it raises MissingExtra with the name of the extra.
"""
