"""What evimem is measured by: scores on labelled conversations, speed, peers. `python -m benchmarks --help`."""
