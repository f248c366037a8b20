"""The state of a participant's ledger: the structs that are sent and the tables that are kept."""
