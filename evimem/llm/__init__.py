"""A chat model as judge, answerer and extractor; flows only, the doors perform the requests."""
