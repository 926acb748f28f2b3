"""One module per command: its docstring is the help, `add_arguments` adds the options, `run` runs it."""
