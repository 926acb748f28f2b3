"""Files and tables: SQLite and PostgreSQL with their schemas, all SQL, and files written whole or not at all."""
