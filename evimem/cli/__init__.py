"""The command line: a command makes a page and JSON data, and a screen prints one of them."""
