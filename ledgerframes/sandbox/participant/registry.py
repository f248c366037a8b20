"""The packages that the participant knows: their templates, interfaces and who implements what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..canton import CantonError
from ..ledger import Template
from ..randomness import number
from ..transactions import Templates

PARTS = 3  # package, module, entity
FAILED_VIEW_EVERY = 60
NEVER_UPLOADED = "not among the vetted packages of this participant"


class Registry:
    """Templates by the names that requests use.

    Parameters
    ----------
    templates
        The templates of the world.
    """

    def __init__(self, templates: Templates) -> None:
        known: dict[str, Template] = vars(templates)
        self.interfaces = [known["allocation_interface"], known["holding_interface"]]
        self.templates = [entry for entry in known.values() if entry not in self.interfaces]
        holding, allocation = known["holding_interface"].identifier, known["allocation_interface"].identifier
        self.implements: Mapping[str, tuple[str, ...]] = {
            known["coin"].identifier: (holding,),
            known["locked_coin"].identifier: (holding,),
            known["token"].identifier: (holding,),
            known["locked_token"].identifier: (holding,),
            known["allocation"].identifier: (allocation,),
        }
        everything = [*self.templates, *self.interfaces]
        self.packages = {entry.package_name: entry.identifier.partition(":")[0] for entry in everything}
        self._templates = {entry.identifier for entry in self.templates}
        self._interfaces = {entry.identifier for entry in self.interfaces}

    def template(self, asked: str) -> str:
        """Return the full id of a template that a filter names, by package name or package id."""
        return self._resolved(asked, self._templates)

    def interface(self, asked: str) -> str:
        """Return the full id of an interface that a filter names."""
        return self._resolved(asked, self._interfaces)

    def _resolved(self, asked: str, known: set[str]) -> str:
        parts = asked.split(":")
        if len(parts) != PARTS or not all(part.strip("#") for part in parts):
            raise CantonError("INVALID_FIELD", f"cannot read the identifier '{asked}': package:module:entity")
        package, rest = parts[0], ":".join(parts[1:])
        if package.startswith("#"):
            if package[1:] not in self.packages:
                raise CantonError(
                    "PACKAGE_NAMES_NOT_FOUND",
                    f"package names {NEVER_UPLOADED}: {package[1:]}",
                    resources=[("PACKAGE_NAME", package[1:])],
                )
            package = self.packages[package[1:]]
        identifier = f"{package}:{rest}"
        if identifier not in known:
            raise CantonError(
                "TEMPLATES_OR_INTERFACES_NOT_FOUND",
                f"templates or interfaces {NEVER_UPLOADED}: {asked}",
                resources=[("TEMPLATE_ID", asked)],
            )
        return identifier


def interface_view(interface_id: str, created: dict[str, Any]) -> dict[str, Any]:
    """Return how a contract looks through an interface; now and then computing that fails (docs/facts.md#ledger-event-fields)."""
    package = created["template_id"].partition(":")[0]
    if number("failed view", created["contract_id"]) % FAILED_VIEW_EVERY == 0:
        status = {"code": 9, "message": "the view of this contract could not be computed", "details": []}
        return {
            "interfaceId": interface_id, "viewStatus": status, "viewValue": None,
            "implementationPackageId": package,
        }  # fmt: skip
    return {
        "interfaceId": interface_id,
        "viewStatus": {"code": 0, "message": "", "details": []},
        "viewValue": _view_value(interface_id, created["create_arguments"]),
        "implementationPackageId": package,
    }


def _view_value(interface_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    amount = fields["amount"]
    if interface_id.endswith(":Allocation"):
        leg = {"sender": fields["sender"], "amount": amount, "executor": fields["executor"]}
        return {"allocation": {"transferLeg": leg, "settlement": fields["settlement"]}, "holdingCids": []}
    instrument = fields.get("instrument", {"issuer": fields.get("dso"), "id": "native"})
    return {
        "owner": fields["owner"],
        "instrumentId": {"admin": instrument["issuer"], "id": instrument["id"]},
        "amount": amount["initialAmount"] if isinstance(amount, dict) else amount,
        "lock": fields.get("lock"),
        "meta": {"values": {}},
    }
