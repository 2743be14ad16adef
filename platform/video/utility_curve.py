"""The strip under a replay: the reward model's utility so far as a growing curve, with the rater's marks on it."""

from __future__ import annotations

from PIL import ImageDraw

from interplay.video import style
from interplay.video.style import Font
from interplay.video.timeline import EpisodeTimeline, ShownMark

Box = tuple[int, int, int, int]  # left, top, right, bottom
ARROW_HALF_HEIGHT = 0.5  # of a mark's arrow, as a multiple of the text height


class UtilityCurve:
    """A curve over the whole episode (horizontal) and the utility's range in it (vertical).

    Without a reward model the marks are drawn on a straight line.
    """

    def __init__(self, timeline: EpisodeTimeline, *, box: Box, face: Font) -> None:
        self._timeline, self._face = timeline, face
        _, top, _, bottom = face.getbbox("Ay")
        self._text = round(bottom - top)
        left, top, right, bottom = box
        margin = 2 * self._text
        self._box = (left + margin + self._label_width(), top + self._text, right - margin, bottom - 2 * self._text)

    def draw(self, draw: ImageDraw.ImageDraw, row: int) -> None:
        """Draws the strip at a row."""
        left, _, right, bottom = self._box
        seconds = self._timeline.steps * self._timeline.seconds_per_step
        draw.line((left, bottom, right, bottom), style.FAINT, 1)
        draw.text((left, bottom + self._text // 3), "0 s", style.INK, self._face, "lt")
        draw.text((right, bottom + self._text // 3), f"{seconds:.1f} s", style.INK, self._face, "rt")
        if self._timeline.utility is not None:
            legend = "utility, as the reward model sees it, and marks"
            draw.text(((left + right) / 2, bottom + self._text // 3), legend, style.CURVE, self._face, "mt")
        x, y = self.point(row)
        draw.line((x, self._box[1], x, bottom), style.FAINT, 1)
        self._axis(draw)
        so_far = [self.point(past) for past in range(row + 1)]
        if len(so_far) > 1:
            draw.line(so_far, style.INK if self._timeline.utility is None else style.CURVE, 2)
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), style.CURVE)
        for mark, above in self._stacked(row):
            x, y = self.point(mark.row)
            size = ARROW_HALF_HEIGHT * self._text
            arrow(draw, (x, y - 2.2 * size * above), size, mark.sign, style.mark(mark.sign))

    def point(self, row: int) -> tuple[float, float]:
        """The position of a row on the strip, in pixels."""
        left, top, right, bottom = self._box
        x = left + (right - left) * row / max(1, self._timeline.steps)
        if self._timeline.utility is None:
            return x, (top + bottom) / 2
        low, high = self._range()
        return x, bottom - (bottom - top) * (float(self._timeline.utility[row]) - low) / (high - low)

    def _axis(self, draw: ImageDraw.ImageDraw) -> None:
        left, top, _, bottom = self._box
        if self._timeline.utility is None:
            draw.text((left - self._text, (top + bottom) / 2), "marks", style.INK, self._face, "rm")
            return
        low, high = self._range()
        draw.text((left - self._text, top), f"{high:.2f}", style.INK, self._face, "rm")
        draw.text((left - self._text, (top + bottom) / 2), "utility", style.CURVE, self._face, "rm")
        draw.text((left - self._text, bottom), f"{low:.2f}", style.INK, self._face, "rm")

    def _range(self) -> tuple[float, float]:
        """Least and greatest utility of the episode, widened if they are equal."""
        assert self._timeline.utility is not None
        low, high = float(self._timeline.utility.min()), float(self._timeline.utility.max())
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def _label_width(self) -> int:
        if self._timeline.utility is None:
            return round(self._face.getlength("marks"))
        return round(max(self._face.getlength(text) for text in ("utility", *(f"{end:.2f}" for end in self._range()))))

    def _stacked(self, row: int) -> list[tuple[ShownMark, int]]:
        """The marks so far, each with the number of earlier marks in the same row."""
        below: dict[int, int] = {}
        stacked = []
        for mark in self._timeline.shown_marks:
            if mark.row <= row:
                stacked.append((mark, below.get(mark.row, 0)))
                below[mark.row] = below.get(mark.row, 0) + 1
        return stacked


def arrow(draw: ImageDraw.ImageDraw, center: tuple[float, float], half: float, sign: int, color: style.Color) -> None:
    """Draws a triangle that points up for +1 and down for -1; Pillow's font has no arrows."""
    x, y = center
    draw.polygon([(x, y - sign * half), (x - half, y + sign * half), (x + half, y + sign * half)], color)
