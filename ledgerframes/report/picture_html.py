"""Plots of a page as HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.texts.short_names import mark_right_to_left

SVG = "image/svg+xml"
NARROW_SVG = "application/vnd.ledgerframes.narrow+svg"  # the same plot for a phone
VARIANTS = {"wide": SVG, "narrow": NARROW_SVG}
MARKS = "marks"  # of a plot, with their texts, in the metadata of its output
MARK_SCALE = 10_000  # units of the width and of the height of a plot, for its marks
ALT = "A plot without a description"


def render_pictures(data: dict[str, str], metadata: dict[str, Any]) -> str:
    """Return a plot as images for wide and narrow pages, below its title."""
    # An SVG in an image can neither run scripts nor load anything.
    caption = figure_caption(metadata.get("title", ""), metadata.get("note", ""))
    narrow = f'<source media="(max-width: 40rem)" srcset="{_data_url(data[NARROW_SVG])}">' if NARROW_SVG in data else ""
    image = f'<img src="{_data_url(data[SVG])}" alt="{escape(metadata.get("alt", ALT))}">'
    marks = "".join(_render_marks(name, metadata.get(MARKS, {}).get(kind, [])) for name, kind in VARIANTS.items() if kind in data)
    return f'{caption}<div class="plot"><picture>{narrow}{image}</picture>{marks}</div>'


def _render_marks(name: str, marks: Iterable[Sequence[Any]]) -> str:
    """Return transparent rectangles over a plot, each with the text that a pointer shows."""
    parts = [
        f'<rect x="{int(x)}" y="{int(y)}" width="{int(width)}" height="{int(height)}"><title>{escape(text)}</title></rect>'
        for x, y, width, height, text in marks
    ]
    # A screen reader has the alternative text of the image and the table, instead of hundreds of rectangles.
    start = f'<svg class="marks {name}" viewBox="0 0 {MARK_SCALE} {MARK_SCALE}" preserveAspectRatio="none" aria-hidden="true">'
    return f"{start}{''.join(parts)}</svg>" if parts else ""


def figure_caption(title: str, note: str) -> str:
    """Return the title and the note of a plot as HTML, an empty text without a title."""
    heading, small = (mark_right_to_left(escape(text), "&lrm;") for text in (title, note))
    return f"<figcaption><strong>{heading}</strong> <small>{small}</small></figcaption>" if title else ""


def _data_url(svg: str) -> str:
    return f"data:{SVG};base64,{b64encode(svg.encode()).decode()}"


def render_image(base64: str, size: dict[str, int], alt: str) -> str:
    """Return a plot of another library, which is a PNG."""
    width = f' width="{int(size["width"])}"' if "width" in size else ""
    return f'<img src="data:image/png;base64,{escape("".join(base64.split()))}" alt="{escape(alt)}"{width}>'
