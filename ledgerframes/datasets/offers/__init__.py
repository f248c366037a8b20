"""Transfer offers of the wallet API: the structs that are sent and the tables that are kept."""
