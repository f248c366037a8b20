"""Templates and interfaces of the network, by topic."""

from ..specs import TemplateSpec
from . import apps, coin, governance, rounds, wallet

# Of two packages of one name, the network's own comes first.
TEMPLATES = tuple(
    declared
    for module in (coin, rounds, governance, wallet, apps)
    for declared in vars(module).values()
    if isinstance(declared, TemplateSpec)
)
