"""The explorer: pages in a browser that show why a memory answers as it does, and let its user correct and erase."""
