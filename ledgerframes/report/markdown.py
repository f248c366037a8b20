"""Markdown in the outputs of a notebook."""

from __future__ import annotations


def render_markdown(text: str) -> str:
    r"""Return Markdown without HTML as HTML, with its headings as bold paragraphs.

    The headings of a page are those of its author's text.

    >>> render_markdown("# Title\n<b> is *text*")
    '<p><strong>Title</strong></p>\n<p>&lt;b&gt; is <em>text</em></p>\n'
    """
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def heading(self, text: str, level: int, **attrs: object) -> str:
            return f"<p><strong>{text}</strong></p>\n"

    return str(mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table"])(text))
