"""Files and tables: SQLite and PostgreSQL, their schemas with migrations, all SQL, and files that are whole or not there."""
