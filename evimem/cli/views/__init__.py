"""Pages made from evimem's values: pure functions, one module a kind of value."""
