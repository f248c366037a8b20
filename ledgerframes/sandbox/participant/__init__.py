"""One participant's ledger, with the updates that its parties see.

Read `projection` (one update), `slices` and `ledger` (all updates, and the parties that it hosts),
`contracts` (active contracts), then `filters` and `rendering` (the form that a request gets).
"""
