"""What every text needs before somebody reads it: no control characters, no tokens, one form of counts."""
