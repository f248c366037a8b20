"""History events: the structs that are sent and the tables that are kept."""
