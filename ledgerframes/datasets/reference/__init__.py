"""Reference data of the history API, as structs and as tables."""
