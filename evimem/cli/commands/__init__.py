"""One module a command: its docstring is its help, `add_arguments` its options, `run` what it does."""
