"""A participant's ledger updates: the structs that are sent and the tables that are kept."""
