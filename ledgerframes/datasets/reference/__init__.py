"""Reference data of the history API: the structs that are sent and the tables that are kept."""
