"""The reading of a question before anything is searched: names, times, the form of the answer."""
