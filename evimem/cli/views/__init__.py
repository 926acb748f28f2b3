"""Pages made from evimem's values: pure functions, one module per kind of value."""
