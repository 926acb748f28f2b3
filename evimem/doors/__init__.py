"""What a caller opens: a memory for ordinary code, one for an event loop, a pool of them."""
