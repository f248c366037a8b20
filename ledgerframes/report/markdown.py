"""Markdown as HTML."""

from __future__ import annotations

from collections.abc import Callable

Heading = Callable[[str, int], str]  # returns the HTML of a heading with this text and level


def as_paragraph(text: str, level: int) -> str:
    """Return a heading as a bold paragraph."""
    return f"<p><strong>{text}</strong></p>\n"


def render_markdown(text: str, heading: Heading = as_paragraph) -> str:
    r"""Return Markdown without HTML as HTML.

    The headings of a page are those of its author's text, so those in the outputs of a notebook are bold paragraphs.

    >>> render_markdown("# Title\n<b> is *text*")
    '<p><strong>Title</strong></p>\n<p>&lt;b&gt; is <em>text</em></p>\n'
    """
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def heading(self, text: str, level: int, **attrs: object) -> str:
            return heading(text, level)

    return str(mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table"])(text))
