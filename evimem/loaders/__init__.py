"""Read conversations from files. A loader takes a path and yields turns; for a bad item it names place and reason."""
