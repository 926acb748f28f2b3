"""Ingest: turns to store, and the queued jobs that derive embeddings, edges and LLM facts from them."""
