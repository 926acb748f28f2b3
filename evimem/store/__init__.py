"""The three layers behind the `Store` protocol: in one SQLite file, or as the rows of a user on a server."""
