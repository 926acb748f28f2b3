"""Files: SQLite connections, the schema with its migrations, and files that are written whole or not at all."""
