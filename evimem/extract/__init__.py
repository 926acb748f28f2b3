"""Facts from turns by rule or by a spaCy parse, the attributes that they fill, and which facts replace which."""
