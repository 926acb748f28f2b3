"""The public classes: a memory for synchronous code, one for an event loop, a pool of them; and `replay`."""
