"""Which reports there are, what they can be asked, and which notebook makes each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledgerframes.errors import ReportError, UsageError

HERE = Path(__file__).parent

Period = Literal["15min", "1h", "6h", "1d", "7d"]


class TrafficCost(BaseModel):
    """Parameters of the report ``traffic-cost``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    every: Period = Field(default="1h", description="length of a period in the pictures over time")
    top: int = Field(default=15, ge=1, le=200, description="rows that each table shows; the files hold all")


class Verdicts(BaseModel):
    """Parameters of the report ``verdicts``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    top: int = Field(default=15, ge=1, le=200, description="rows that each table shows; the files hold all")


@dataclass(frozen=True)
class Report:
    """One report.

    Attributes
    ----------
    name : str
        As it is asked for, and the name of its folder.
    purpose : str
        What it answers, in one line.
    notebook : str
        File name in :func:`notebooks_folder`.
    parameters : type of BaseModel
        What can be asked, beside the window.
    needs_cost : bool
        Whether requests without known traffic make its figures lower bounds, so that they count for ``min_coverage``.
    """

    name: str
    purpose: str
    notebook: str
    parameters: type[BaseModel]
    needs_cost: bool

    @property
    def path(self) -> Path:
        """The notebook's file.

        Raises
        ------
        ReportError
            If the installation lacks it.
        """
        path = notebooks_folder() / self.notebook
        if not path.is_file():
            raise ReportError(f"The notebook {self.notebook} of report {self.name} is missing. Install ledgerframes again.")
        return path

    def checked(self, parameters: Mapping[str, object]) -> dict[str, Any]:
        """The parameters with their types and defaults.

        Parameters
        ----------
        parameters : mapping
            Values, or texts as a command line gives them.

        Raises
        ------
        UsageError
            If there is no such parameter, or a value makes no sense.
        """
        known = self.parameters.model_fields
        unknown = [name for name in parameters if name not in known]
        if unknown:
            raise UsageError(f"Report {self.name} has no parameter {unknown[0]!r}. Parameters: {', '.join(known)}.")
        try:
            return self.parameters(**parameters).model_dump(mode="json")
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise UsageError(f"Report {self.name}, parameter {first['loc'][0]}: {first['msg']}.") from None


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report(
            name="traffic-cost",
            purpose="What traffic costs, who pays it, and for what.",
            notebook="02_traffic_cost.ipynb",
            parameters=TrafficCost,
            needs_cost=True,
        ),
        Report(
            name="verdicts",
            purpose="How requests are decided, how fast, and by whom.",
            notebook="03_verdicts.ipynb",
            parameters=Verdicts,
            needs_cost=False,
        ),
    )
}


def find_report(name: str) -> Report:
    """The report of this name.

    Raises
    ------
    UsageError
        If there is none.
    """
    if name not in REPORTS:
        raise UsageError(f"There is no report {name!r}. Reports: {', '.join(REPORTS)}.")
    return REPORTS[name]


def notebooks_folder() -> Path:
    """The folder of the notebooks: inside an installed package, or at the top of the repository."""
    installed = HERE / "notebooks"
    return installed if installed.is_dir() else HERE.parents[1] / "notebooks"


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
