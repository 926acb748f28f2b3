"""The three layers behind the `Store` protocol: in one SQLite file and, as a reference for tests, in memory."""
