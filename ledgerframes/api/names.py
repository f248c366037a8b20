"""The names of the three APIs."""

from typing import Literal

Api = Literal["ledger", "wallet", "history"]
