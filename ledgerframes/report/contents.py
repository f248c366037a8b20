"""The contents of a page, from the anchors of its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MAX_ANCHOR = 60


@dataclass(frozen=True)
class Heading:
    """A heading of a page."""

    anchor: str
    html: str  # safe, without elements
    level: int  # 2 for a section, 3 for a part of one


@dataclass
class Contents:
    """The headings of a page so far, with unique anchors."""

    headings: list[Heading] = field(default_factory=list)

    def render(self, text: str) -> str:
        """Return Markdown without HTML as HTML, and remember its headings."""
        import mistune

        contents = self

        class Renderer(mistune.HTMLRenderer):
            def heading(self, text: str, level: int, **attrs: Any) -> str:
                anchor = contents.add(text, level)
                return f'<h{level} id="{anchor}">{text}</h{level}>\n'

        return str(mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table"])(text))

    def add(self, html: str, level: int) -> str:
        """Remember a heading, and return its anchor.

        >>> contents = Contents()
        >>> contents.add("Cost by <em>party</em>", 2), contents.add("Cost by party", 3)
        ('cost-by-party', 'cost-by-party-2')
        """
        plain = re.sub(r"<[^>]*>", "", html)
        slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"&\w+;", "", plain.lower()))[:MAX_ANCHOR].strip("-") or "section"
        same = sum(re.fullmatch(rf"{slug}(-\d+)?", heading.anchor) is not None for heading in self.headings)
        anchor = f"{slug}-{same + 1}" if same else slug
        self.headings.append(Heading(anchor, plain, level))
        return anchor

    def sections(self) -> list[Heading]:
        """Return the headings of sections, in the order of the page."""
        return [heading for heading in self.headings if heading.level == 2]
