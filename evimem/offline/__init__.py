"""Judging and answering without a model: requirements, attribution, features, a probability, a short answer."""
