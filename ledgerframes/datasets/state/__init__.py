"""The state of a participant's ledger, as structs and as tables."""
