"""SQL for exact amounts from texts and products. An amount is a ``DECIMAL(38, 10)``."""

from __future__ import annotations

from collections.abc import Mapping

from ledgerframes.engine.literals import array_of

# The engine would read decimals as floats. As texts, they keep all digits.
DECIMALS = r"""'([^\\]":\s*)(-?[0-9]+[.eE][-+.0-9eE]*)'"""
# Every match of DECIMALS contains this. It starts with plain characters, so the engine finds it several times as fast.
PART_OF_DECIMALS = r"""'":\s*-?[0-9]+[.eE]'"""


def exact(payload: str) -> str:
    """Return a payload in which numbers with decimals are texts."""
    texts = rf"""regexp_replace({payload}, {DECIMALS}, '\1"\2"', 'g')"""
    return f"CASE WHEN regexp_matches({payload}, {PART_OF_DECIMALS}) THEN {texts} ELSE {payload} END"


def member(payload: str, path: str) -> str:
    """Return a member of a payload as text, missing if the payload cannot be read."""
    return f"TRY(json_extract_string({payload}, {path}))"


def members(payload: str, paths: Mapping[str, str], *, as_json: bool = False) -> str:
    """Return members of a payload as a list of texts, so that it is read only once.

    `paths` maps the name of each column to its path. With `as_json`, texts keep their quotes.
    """
    function = "json_extract" if as_json else "json_extract_string"
    return f"TRY({function}({payload}, {array_of(paths.values())}))"


def columns_of(texts: str, paths: Mapping[str, str]) -> str:
    """Return the items of a list from :func:`members` as columns."""
    return ", ".join(f"{texts}[{position}] AS {name}" for position, name in enumerate(paths, start=1))


def whole(text: str) -> str:
    """Return a text as an integer of at most 18 digits, missing if it is anything else."""
    return f"CASE WHEN regexp_full_match({text}, '-?[0-9]{{1,18}}') THEN {text}::BIGINT END"


def amount_of(text: str) -> str:
    """Return a text as an amount.

    It is missing if the text has more than ten decimals, because the engine would round it silently.
    """
    mantissa, exponent = (f"split_part(lower({text}), 'e', {part})" for part in (1, 2))
    digits, decimals = f"translate({mantissa}, '+-.', '')", f"length(split_part({mantissa}, '.', 2))"
    last_digit = f"{decimals} - (length({digits}) - length(rtrim({digits}, '0'))) - TRY_CAST({exponent} AS INTEGER)"
    # Almost all texts are 0E-10 or plain numbers, for which the first condition is fast.
    return f"""CASE
        WHEN starts_with({text}, '0E')
            OR instr({text}, '.') >= length({text}) - 10 AND NOT contains({text}, 'e') AND NOT contains({text}, 'E')
        THEN TRY_CAST({text} AS DECIMAL(38, 10))
        ELSE CASE
            WHEN {exponent} = '' AND length(rtrim(split_part({text}, '.', 2), '0')) <= 10 THEN TRY_CAST({text} AS DECIMAL(38, 10))
            WHEN {exponent} <> '' AND ({last_digit} <= 10 OR rtrim({digits}, '0') = '') THEN TRY_CAST({text} AS DECIMAL(38, 10))
        END
    END"""


def product_of(left: str, right: str) -> str:
    """Return the product of two amounts, rounded half-even to ten decimals.

    It is missing if it is too large.
    """
    # Whole parts and fractions are multiplied separately, because the product of two decimals would lose digits.
    (whole_left, rest_left), (whole_right, rest_right) = (
        (f"trunc(abs({each}))::HUGEINT", f"((abs({each}) - trunc(abs({each}))) * 10_000_000_000)::HUGEINT")
        for each in (left, right)
    )
    rest = f"{rest_left} * {rest_right}"
    units = (
        f"({whole_left} * {whole_right} * 10_000_000_000 + {whole_left} * {rest_right} + {rest_left} * {whole_right} "
        f"+ {rest} // 10_000_000_000)"
    )
    half = f"({rest} % 10_000_000_000 - 5_000_000_000)"
    rounded = f"({units} + CASE WHEN {half} > 0 OR {half} = 0 AND {units} % 2 = 1 THEN 1 ELSE 0 END)"
    size = f"({rounded} // 10_000_000_000)::DECIMAL(38, 10) + (({rounded} % 10_000_000_000) * 0.0000000001)::DECIMAL(38, 10)"
    return f"TRY(CASE WHEN ({left} < 0) = ({right} < 0) THEN {size} ELSE -({size}) END)"
