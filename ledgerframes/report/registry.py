"""The reports, with the parameters and the notebook of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError, create_model

from ledgerframes.analysis import finding_names as what
from ledgerframes.errors import ReportError, UsageError
from ledgerframes.report.budgets import read_budgets
from ledgerframes.report.own_notebook import parameter_model, report_name
from ledgerframes.report.prices import read_prices
from ledgerframes.settings import describe_constraint

PACKAGE_DIR = Path(__file__).parent


def _text_that(read: Callable[[str], object]) -> Any:
    """Return the type of a text that a function can read."""

    def check(text: str) -> str:
        read(text)
        return text

    return Annotated[str, AfterValidator(check)]


Period = Literal["15min", "1h", "6h", "1d", "7d"]
# Parameters of reports, each as its type and its default, limits and description.
EVERY = "length of a period in plots over time"
TOP: dict[str, Any] = {
    "top": (int, Field(default=15, ge=1, le=200, description="rows that each table shows (its files have all)"))
}
PRICES: dict[str, Any] = {
    "price": (
        str,
        Field(default="", description="list price of traffic, such as 50 USD/MB, or none (default: that of the rounds)"),
    ),
    "rate": (str, Field(default="", description="the network's own rate, such as 0.16 USD/coin")),
}
MARKET: dict[str, Any] = {"market": (str, Field(default="", description="market price of the coin, such as 0.15 USD/coin"))}
RUNWAY: dict[str, Any] = {
    "participant": (
        str,
        Field(
            default="", description="full id of your participant, for its cost and balance (default: that with the highest cost)"
        ),
    ),
    "balance": (
        int | None,
        Field(default=None, ge=0, description="its traffic balance at the end of the window, in bytes (default: unknown)"),
    ),
}
BUDGETS: dict[str, Any] = {
    "budgets": (
        _text_that(read_budgets),
        Field(default="", description="bytes per kind of request, such as Module:Entity/Choice=9000, ..."),
    ),
}

ABOUT = "About this page"  # the heading of what each page says on its data


@dataclass(frozen=True)
class Report:
    """One report.

    Attributes
    ----------
    name : str
        Name on the command line, and of the report's directory.
    purpose : str
        One line for lists.
    notebook : str
        File name in :func:`notebooks_dir`, or the path of a user's notebook.
    parameters : type of BaseModel
        Parameters other than the window.
    needs_cost : bool
        Whether requests with an unknown cost turn its figures into lower bounds, so that they count for ``min_coverage``.
    needs_history : bool
        Whether it compares with the weeks before its window, for findings and usual ranges.
    needs_state : bool
        Whether it shows rounds and rights, from the state of the network.
    is_folded : bool
        Whether the sections of its page are closed until a reader opens them, so that the top of the page fits on a screen.
    subjects : tuple of str
        What its page opens with, as names in :data:`ledgerframes.report.summary.SUBJECTS`.
    headings : mapping of str to str
        The heading that shows the findings of a measure, or of a subject such as ``confirming party``.
    """

    name: str
    purpose: str
    notebook: str
    parameters: type[BaseModel]
    needs_cost: bool
    needs_history: bool = False
    needs_state: bool = False
    is_folded: bool = False
    subjects: tuple[str, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Path of the notebook.

        Raises
        ------
        ReportError
            If the installation has no such file.
        """
        path = notebooks_dir() / self.notebook  # an absolute path stays as it is
        if not path.is_file():
            raise ReportError(f"The notebook {self.notebook} of report {self.name} is missing. Install ledgerframes again.")
        return path

    @property
    def is_own(self) -> bool:
        """Whether it is a user's notebook."""
        return Path(self.notebook).is_absolute()

    @property
    def has_rewards(self) -> bool:
        """Whether it checks the rewards for its findings."""
        return what.REWARDS in self.headings

    def parse_parameters(self, parameters: Mapping[str, object]) -> dict[str, Any]:
        """Return the parameters with their types and defaults.

        Parameters
        ----------
        parameters : mapping
            Values, or their text on the command line.

        Raises
        ------
        UsageError
            If a parameter is unknown or has an invalid value, or two parameters are incompatible.
        """
        names = [each.alias or name for name, each in self.parameters.model_fields.items()]
        unknown = [name for name in parameters if name not in names]
        if unknown:
            raise UsageError(f"Unknown parameter {unknown[0]!r} of report {self.name}. Choose from {', '.join(names)}.")
        try:
            values = self.parameters(**parameters).model_dump(mode="json", by_alias=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if isinstance(reason := first.get("ctx", {}).get("error"), UsageError):
                raise reason from None
            raise UsageError(f"{first['loc'][0]}= of report {self.name} {describe_constraint(first['msg'])}.") from None
        read_prices(values)
        return values


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report(
            name="traffic-cost",
            purpose="Traffic cost: how much, who pays, and for what.",
            notebook="02_traffic_cost.ipynb",
            parameters=create_model("TrafficCost", every=(Period, Field(default="1h", description=EVERY)), **TOP, **PRICES),
            needs_cost=True,
            needs_history=True,
            subjects=("traffic",),
            headings={
                what.REQUESTS: "What did it cost?",
                what.UNKNOWN: "What did it cost?",
                what.COST: "What is it paid for?",
                what.ONE_COST: "Why is a request expensive?",
                what.WASTE: "What is wasted?",
                what.NEGATIVE: "Do the sums agree?",
            },
        ),
        Report(
            name="verdicts",
            purpose="Verdicts: outcomes, latency, rejections and confirming parties.",
            notebook="03_verdicts.ipynb",
            parameters=create_model("Verdicts", **TOP, **PRICES),
            needs_cost=False,
            needs_history=True,
            subjects=("verdicts",),
            headings={
                what.REQUESTS: "How are requests decided?",
                what.REJECTIONS: "How are requests decided?",
                what.LATENCY: "How fast is a decision?",
                what.EARLY: "How fast is a decision?",
                "confirming party": "Who is slow?",
            },
        ),
        Report(
            name="activity",
            purpose="Activity: weights, rewards and concentration of app providers.",
            notebook="04_activity_and_rewards.ipynb",
            parameters=create_model("Activity", every=(Period, Field(default="1d", description=EVERY)), **TOP, **MARKET),
            needs_cost=False,
            needs_history=True,
            needs_state=True,
            subjects=("activity",),
            headings={
                what.WEIGHT: "Who earned the activity weight?",
                what.RECORDS: "Who earned the activity weight?",
                what.REWARDS: "Do the rewards follow from the records to the last hash?",
            },
        ),
        Report(
            name="operations",
            purpose="Operations: runway, waste, requests that waited, and budgets.",
            notebook="08_operations.ipynb",
            parameters=create_model("Operations", **RUNWAY, **BUDGETS, **TOP, **PRICES),
            needs_cost=True,
            needs_history=True,
            subjects=("balance", "traffic", "verdicts"),
            headings={
                what.WASTE: "How much is wasted?",
                what.REJECTIONS: "How much is wasted?",
                what.LATENCY: "Which parties do slow requests wait for?",
                what.COST: "Do requests keep to their budgets?",
                what.ONE_COST: "Which requests cost most?",
                what.BALANCE: "How long does the traffic balance last?",
            },
        ),
        Report(
            name="weekly",
            purpose="A week: traffic, verdicts, activity and money.",
            notebook="10_weekly.ipynb",
            parameters=create_model("Weekly", **RUNWAY, **TOP, **PRICES, **MARKET),
            needs_cost=True,
            needs_history=True,
            needs_state=True,
            is_folded=True,
            subjects=("traffic", "balance", "verdicts", "activity"),
            headings=dict.fromkeys(what.COMPARED, "What is unusual?")
            | {
                what.REQUESTS: "Who paid?",
                what.COST: "What did traffic cost, and why did it change?",
                what.ONE_COST: "Largest requests",
                what.WASTE: "How were requests decided?",
                what.REJECTIONS: "How were requests decided?",
                what.WEIGHT: "Who earned activity?",
                what.RECORDS: "Who earned activity?",
                what.BALANCE: "When does the traffic balance end?",
            },
        ),
    )
}


def find_report(name: str) -> Report:
    """Return the report with this name, or of the notebook with this path."""
    if name.endswith(".ipynb"):
        return _own_report(Path(name))
    if name not in REPORTS:
        choices = ", ".join(REPORTS)
        raise UsageError(f"Unknown report {name!r}. Choose from {choices}, or pass the path of a notebook that ends in .ipynb.")
    return REPORTS[name]


def _own_report(path: Path) -> Report:
    name = report_name(path)
    if name in REPORTS:
        raise UsageError(f"The notebook {path} has the name of the report {name}. Rename the file.")
    purpose, subjects = f"The notebook {path.name}.", ("traffic", "verdicts")
    return Report(name, purpose, str(path.absolute()), parameter_model(path), needs_cost=False, subjects=subjects)


def notebooks_dir() -> Path:
    """Return the directory of the notebooks.

    It is in the installed package, or at the top of the repository.
    """
    installed = PACKAGE_DIR / "notebooks"
    return installed if installed.is_dir() else PACKAGE_DIR.parents[1] / "notebooks"
