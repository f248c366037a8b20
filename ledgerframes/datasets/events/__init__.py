"""History events, as structs and as tables."""
