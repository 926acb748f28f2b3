"""A memory for chatbots that keeps every turn, dates every fact, and knows when it does not know."""
