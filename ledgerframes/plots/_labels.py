"""Texts at points, which stay within axes of any width."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase
    from matplotlib.text import Annotation

Alignment = Literal["left", "center", "right"]
GAP = 2  # printer's points between a text and an end of the axes


@cache
def point_label() -> type[Annotation]:
    """Return the class of texts above points, which needs matplotlib.

    A text that would leave the axes has its middle at its point, or starts or ends there. Axes have their width only when
    they are drawn, and a page has the same ones in two widths.
    """
    from matplotlib.text import Annotation, Text

    class PointLabel(Annotation):
        def __init__(self, *arguments: Any, horizontalalignment: Alignment = "center", **style: Any) -> None:
            super().__init__(*arguments, **style)
            self.preferred_alignment = horizontalalignment

        def update_positions(self, renderer: RendererBase) -> None:  # called before a text is measured or drawn
            axes, gap = self.axes.bbox, renderer.points_to_pixels(GAP)  # type: ignore[union-attr]
            for alignment in dict.fromkeys((self.preferred_alignment, "center")):
                self.set_horizontalalignment(alignment)
                super().update_positions(renderer)
                box = Text.get_window_extent(self, renderer)
                if axes.x0 + gap <= box.x0 and box.x1 <= axes.x1 - gap:
                    return
            is_left = box.x0 + box.x1 < axes.x0 + axes.x1
            self.set_horizontalalignment("left" if is_left else "right")
            super().update_positions(renderer)  # a line to the point starts at the text

    return PointLabel
