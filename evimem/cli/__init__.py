"""The command line: commands make pages of plain values, and a screen prints them for people or for programs."""
