"""Values: frozen, each made by exactly one stage. Import them from their module; `evimem` exports the public ones."""
