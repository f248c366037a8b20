"""Transfer offers of the wallet API, as structs and as tables."""
