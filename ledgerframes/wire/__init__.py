"""What the network sends: msgspec structs, and bytes turned into them."""
