"""Facts from turns by rule or by a spaCy parse, what they fill of a person or thing, and which replace others."""
