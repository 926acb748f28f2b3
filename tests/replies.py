"""Parts of a model's replies that many tests give."""

# A judge that calls evidence exact says what supports each requirement; labels of none are passed over.
SUPPORTED = [{"id": f"r{number}", "status": "supported", "evidence": ["e1"], "why": ""} for number in range(1, 7)]
