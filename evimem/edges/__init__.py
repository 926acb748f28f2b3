"""The Edges layer: typed, weighted links between facts, and one scored hop over them."""
