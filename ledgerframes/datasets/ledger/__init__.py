"""A participant's ledger updates, as structs and as tables."""
