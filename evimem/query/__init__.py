"""What is read from a question before anything is searched: names, times, the form of the answer."""
