"""Check names and texts against the style rules of CONTRIBUTING.md.

Each rule counts its violations in ``ledgerframes/`` and the hand-written docs. A count above the rule's ceiling fails. Ceilings
may only be lowered, and a rule whose ceiling is 0 allows no exception.

Run ``python tools/check_words.py`` for the counts, and ``python tools/check_words.py RULE`` to list the violations of one rule.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ledgerframes"
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "data/README.md")
GENERATED_PAGES = ("cli.md", "operations.md", "performance.md", "run-json.md", "settings.md", "tables.md")

PARTICIPLES = re.compile(
    r"(?:^|_)(?:asked|found|given|came|said|kept|held|wanted|lost|taken|begun|gone|told|made|done|shaped|joined|chosen|named"
    r"|described|listed|counted|sized|gathered|settled|divided|answered|looked|cleaned|overtaken|promised|shown|refused"
    r"|unwritable|damaged|stored)$"
)
PREDICATE = re.compile(r"^_?(?:is|has|was)_")
VAGUE_NOUNS = re.compile(
    r"(?:^|_)(?:place|places|reading|readings|finding|findings|beside|behind|aside|already|again|way|ways|shelf|crew|lane|moment"
    r"|words|remarks|question|sentence|look|strays|stranger|strangers|twin|twins|pace|room|dearest|goes|go|fares)(?=_|$)"
)
ALLOWED_NAMES = {"write_behind", "findings", "FINDINGS"}
NOUN_CLAUSE = re.compile(r"^(?:What|Which|Whose|Who|How|Where|That)\b(?!.*\?)")
DIALECT = re.compile(
    r"\bask(?:s|ed|ing)?\b|\b[Gg]ave\b|\b(?:asked for|looked at|looked for|made from|that came|given by|taken from|taken apart"
    r"|put together|gone on with|left out)\b|\b(?:[Mm]end(?:s|ed)?|fares?|dearest|[Ss]weeps?|turned down|put aside|at hand"
    r"|of late|whatever)\b|\b(?:go|goes|gone|going|went) on\b|\b[Oo]f (?:one's|its|their|your|our|his) own\b"
    r"|\black(?:s|ed|ing)?\b|\b(?:beside|besides|meanwhile)\b|\b(?:makes? no sense|and such|and the like)\b"
)
BRITISH = re.compile(r"catalogue|colour|centre|neighbour|behaviour|licence|time-outs?\b")
FOLDER = re.compile(r"(?:^|_)folders?(?=_|$)")
# A folder is a day's prefix in the bulk storage. These modules work with them, and so does each one with "bulk" in its path.
MODULES_WITH_FOLDERS = {"analysis/coverage.py", "loaders/repair.py"}
IN_SEEDED_IDS = 'key_word="licence"'  # contract ids of every world follow from it
LOG_EVENT = re.compile(r"^[a-z]+(_[a-z]+)*( [a-z_]+=%[sdr])*$")
LOG_METHODS = ("debug", "info", "warning", "error", "exception")
DECLARATIONS = ("Column", "ResultColumn", "Option", "Argument")
ERRORS = ("UsageError", "StoreError", "CoverageError", "DecodeError", "IntegrityError", "ReportError")

Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Rule:
    """A rule, the number of violations that is still allowed, and a function that yields them."""

    name: str
    ceiling: int
    violations: Callable[[], Iterator[str]]


@cache
def modules() -> list[tuple[Path, str, ast.Module]]:
    """Return path, text and syntax tree of every module of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [(path, text, ast.parse(text)) for path, text in zip(paths, texts, strict=True)]


def nodes(*kinds: type[Node]) -> Iterator[tuple[Path, Node]]:
    """Yield the nodes of these kinds in all modules."""
    for path, _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield path, node


def at(path: Path, line: int, text: str) -> str:
    """Return a violation as ``file:line: text``."""
    return f"{path.relative_to(ROOT)}:{line}: {text}"


def definitions() -> Iterator[tuple[Path, int, str]]:
    """Yield the names that the package defines: functions, classes, parameters, variables and attributes."""
    for path, definition in nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        yield path, definition.lineno, definition.name
    for path, parameter in nodes(ast.arg):
        yield path, parameter.lineno, parameter.arg
    for path, variable in nodes(ast.Name):
        if isinstance(variable.ctx, ast.Store):
            yield path, variable.lineno, variable.id
    for path, attribute in nodes(ast.Attribute):
        if isinstance(attribute.ctx, ast.Store):
            yield path, attribute.lineno, attribute.attr


def participles() -> Iterator[str]:
    """Yield the names that end in a participle, other than predicates."""
    for path, line, name in definitions():
        if PARTICIPLES.search(name) and not PREDICATE.match(name):
            yield at(path, line, name)


def vague_nouns() -> Iterator[str]:
    """Yield the names that contain a word without a technical meaning."""
    for path, line, name in definitions():
        if VAGUE_NOUNS.search(name.lower()) and name not in ALLOWED_NAMES:
            yield at(path, line, name)


def folders_on_disk() -> Iterator[str]:
    """Yield the names that contain the word for a prefix in the bulk storage, outside of its modules."""
    for path, line, name in definitions():
        module = path.relative_to(PACKAGE).as_posix()
        if FOLDER.search(name.lower()) and "bulk" not in module and module not in MODULES_WITH_FOLDERS:
            yield at(path, line, name)


def docstrings() -> Iterator[tuple[Path, int, str]]:
    """Yield the first line of every docstring."""
    for path, node in nodes(ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        if text := ast.get_docstring(node):
            yield path, getattr(node, "lineno", 1), text.splitlines()[0]


def docstring_form() -> Iterator[str]:
    """Yield first lines that are too long, or join two sentences."""
    for path, line, text in docstrings():
        prose = re.sub(r"``[^`]*``|`[^`]*`|:\w+:", "", text)
        if len(text) > 88 or ";" in prose or ":" in prose.rstrip(":"):
            yield at(path, line, text)


def noun_clauses() -> Iterator[str]:
    """Yield first lines and headings that are a clause instead of a noun or a verb."""
    for path, line, text in docstrings():
        if NOUN_CLAUSE.match(text):
            yield at(path, line, text)
    for path, line, text in prose():
        if text.startswith("#") and NOUN_CLAUSE.match(text.lstrip("# ")):
            yield at(path, line, text)


def messages() -> Iterator[tuple[Path, int, str]]:
    """Yield the texts that users read: of errors, columns, options and arguments."""
    for path, error in error_calls():
        yield path, error.lineno, literal(error.args[0])
    for path, call in nodes(ast.Call):
        if called(call) in DECLARATIONS:
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield path, call.lineno, literal(value)


def error_calls() -> Iterator[tuple[Path, ast.Call]]:
    """Yield the calls that make the errors that are raised, of those with a text."""
    for path, node in nodes(ast.Raise):
        if isinstance(node.exc, ast.Call) and node.exc.args:
            yield path, node.exc


def literal(node: ast.expr) -> str:
    """Return the fixed part of a text, with ``{}`` for each value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return literal(node.left) + literal(node.right)
    return ""


def called(node: ast.Call) -> str:
    """Return the last part of the name of the called function."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def dialect_in_messages() -> Iterator[str]:
    """Yield messages with an idiom that a technical writer would not use."""
    for path, line, text in messages():
        if DIALECT.search(text):
            yield at(path, line, text)


def dialect_in_prose() -> Iterator[str]:
    """Yield lines of comments, docstrings and pages with such an idiom."""
    for path, text, _ in modules():
        for line, comment in comments_and_docstrings(text):
            if DIALECT.search(comment):
                yield at(path, line, comment.strip())
    for path, line, text in prose():
        if DIALECT.search(text):
            yield at(path, line, text)


def comments_and_docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the comments and docstrings of a module."""
    previous = tokenize.INDENT
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
        elif token.type == tokenize.STRING and previous in (tokenize.INDENT, tokenize.NEWLINE, tokenize.NL, tokenize.DEDENT):
            for number, line in enumerate(token.string.splitlines()):
                yield token.start[0] + number, line
        if token.type != tokenize.COMMENT:
            previous = token.type


@cache
def prose() -> list[tuple[Path, int, str]]:
    """Return the lines of the hand-written pages, without code."""
    pages = [*(ROOT / name for name in PAGES), *sorted((ROOT / "docs").glob("*.md"))]
    lines: list[tuple[Path, int, str]] = []
    for path in pages:
        if path.name in GENERATED_PAGES:
            continue
        is_code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("```"):
                is_code = not is_code
            elif not is_code:
                lines.append((path, number, re.sub(r"`[^`]*`", "", line)))
    return lines


def error_form() -> Iterator[str]:
    """Yield error texts that join sentences with a semicolon, are too long, or lack a full stop."""
    for path, error in error_calls():
        if "sandbox" in path.parts or called(error) not in ERRORS:
            continue
        text = literal(error.args[0])
        if text and (";" in text or len(text.replace("{}", "")) > 160 or not text.endswith((".", "{}"))):
            yield at(path, error.lineno, text)


def log_form() -> Iterator[str]:
    """Yield log calls that are not an event with ``key=%s`` pairs."""
    for path, call in nodes(ast.Call):
        if is_log_call(call.func) and not LOG_EVENT.match(literal(call.args[0])):
            yield at(path, call.lineno, literal(call.args[0]))


def is_log_call(function: ast.expr) -> bool:
    """Return whether a called function is a method of the logger."""
    if not isinstance(function, ast.Attribute) or function.attr not in LOG_METHODS:
        return False
    return isinstance(function.value, ast.Name) and function.value.id == "logger"


def column_form() -> Iterator[str]:
    """Yield column descriptions that are too long, or join sentences with a semicolon."""
    for path, line, text in messages():
        if text.endswith(".") and " " in text and (len(text) > 160 or ";" in text):
            yield at(path, line, text)


def british() -> Iterator[str]:
    """Yield British spellings."""
    for path, text, _ in modules():
        for number, line in enumerate(text.splitlines(), 1):
            if BRITISH.search(line.replace(IN_SEEDED_IDS, "")):
                yield at(path, number, line.strip())
    for path, line, text in prose():
        if BRITISH.search(text):
            yield at(path, line, text)


RULES = (
    Rule("participles", 0, participles),
    Rule("vague-nouns", 0, vague_nouns),
    Rule("folders-on-disk", 0, folders_on_disk),
    Rule("docstring-form", 0, docstring_form),
    Rule("noun-clauses", 0, noun_clauses),
    Rule("dialect-in-messages", 0, dialect_in_messages),
    Rule("dialect-in-prose", 0, dialect_in_prose),
    Rule("error-form", 0, error_form),
    Rule("column-form", 0, column_form),
    Rule("log-form", 0, log_form),
    Rule("british", 0, british),
)


def main(names: list[str]) -> int:
    """Print counts, or the violations of the named rules, and return the exit code."""
    exit_code = 0
    for rule in RULES:
        violations = list(rule.violations())
        if rule.name in names:
            print("\n".join(violations))
        if len(violations) > rule.ceiling:
            exit_code = 1
            print(
                f"{rule.name}: {len(violations)} violations, at most {rule.ceiling} allowed. "
                f"List them with `python tools/check_words.py {rule.name}`."
            )
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
