"""The three layers behind one door: the SQLite store, its upkeep, and a plain store in memory."""
