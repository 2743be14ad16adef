"""Draws one row of a replay: the solver's view, up to two side views, captions, and the utility curve::

+----------------+--------+
| solver's eyes  | map    |
|                +--------+
|                | setter |
|        marks   +--------+
|                | status |
+----------------+--------+
| captions                |
| utility curve           |
+-------------------------+

The curve strip shows the reward model's utility so far, with the rater's marks on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw

from interplay.env.arrays import Image
from interplay.video import style
from interplay.video.style import LINE_HEIGHT, Font, font, wrap
from interplay.video.timeline import Caption, EpisodeTimeline, ShownMark

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


# Sizes as fractions of the solver's picture: side views of both its sides, the others of its height.
SIDE_VIEW_SIZE = 3 / 8
CURVE_HEIGHT, MARKS_HEIGHT = 0.24, 0.13  # the strip with a utility curve, and with marks only
TEXT_HEIGHT = 1 / 28
MAX_CAPTION_LINES = 8
CONTROLLER_NAMES = {"human": "a person", "agent": "the agent", "scripted": "a script", "replay": "a recording"}


class ReplayScreen:
    """Layout of a replay. `draw` is stateless.

    `height` and `width` are those of the solver's picture; `titles` names the side views, at most two.
    """

    def __init__(self, timeline: EpisodeTimeline, *, height: int, width: int, titles: Sequence[str]) -> None:
        self._timeline, self._height, self._width, self._titles = timeline, height, width, tuple(titles)
        self._size = max(10, round(TEXT_HEIGHT * height))
        self._font, self._large = font(self._size), font(round(1.5 * self._size))
        self._line = round(LINE_HEIGHT * self._size)
        self._side = round(SIDE_VIEW_SIZE * width), round(SIDE_VIEW_SIZE * height)  # width, height
        self._total_width = _even(width + self._side[0])
        self._lines = self._max_lines()
        self._captions_height = self._lines * self._line + self._size
        panel = round((MARKS_HEIGHT if timeline.utility is None else CURVE_HEIGHT) * height)
        self._total_height = _even(height + self._captions_height + panel)
        box = (0, height + self._captions_height, self._total_width, self._total_height)
        self._curve = UtilityCurve(timeline, box=box, face=font(max(9, round(0.8 * self._size))))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the picture that `draw` returns; both even, as the encoder requires."""
        return self._total_height, self._total_width

    def draw(self, row: int, pictures: Mapping[str, Image]) -> NDArray[np.uint8]:
        """Draws a row as uint8 [*shape, 3]; `pictures` maps titles to views, each uint8 [h, w, 3] of any size."""
        sheet = Pillow.new("RGB", (self._total_width, self._total_height), style.PAPER)
        draw = ImageDraw.Draw(sheet)
        self._paste(sheet, pictures[self._timeline.solver], (0, 0), (self._width, self._height))
        self._draw_label(draw, (0, 0), f"{self._timeline.solver}'s eyes")
        for number, title in enumerate(self._titles):
            corner = (self._width, number * self._side[1])
            self._paste(sheet, pictures[title], corner, self._side)
            self._draw_label(draw, corner, f"{title}'s eyes" if title == self._timeline.setter else title)
        self._draw_status(draw, row)
        self._draw_marks(draw, self._timeline.marks_at(row))
        self._draw_captions(draw, self._timeline.captions_at(row))
        self._curve.draw(draw, row)
        return np.asarray(sheet)

    def _paste(self, sheet: Pillow.Image, picture: Image, corner: tuple[int, int], box: tuple[int, int]) -> None:
        """Scales a picture to fit a box; small pictures keep hard pixel edges."""
        image = Pillow.fromarray(picture)
        scale = min(box[0] / image.width, box[1] / image.height)
        size = max(1, round(scale * image.width)), max(1, round(scale * image.height))
        filter_ = Pillow.Resampling.NEAREST if scale >= 2 else Pillow.Resampling.BOX
        fitted = image if size == image.size else image.resize(size, filter_)
        sheet.paste(fitted, (corner[0] + (box[0] - size[0]) // 2, corner[1] + (box[1] - size[1]) // 2))

    def _draw_label(self, draw: ImageDraw.ImageDraw, corner: tuple[int, int], text: str) -> None:
        x, y = corner
        draw.rectangle((x, y, x + self._font.getlength(text) + self._size, y + self._line), fill=style.LABEL)
        draw.text((x + self._size // 2, y + self._line // 2), text, style.PAPER, self._font, "lm")

    def _draw_status(self, draw: ImageDraw.ImageDraw, row: int) -> None:
        """Time, step, controller, task and utility, below the side views."""
        timeline = self._timeline
        kind, first = timeline.controller_at(row), timeline.controllers[0][1]
        control = f"{CONTROLLER_NAMES.get(kind, kind)} steers the {timeline.solver}"
        x, y = self._width + self._size // 2, len(self._titles) * self._side[1] + self._size // 2
        lines = [
            (
                f"{row * timeline.seconds_per_step:.1f} s of {timeline.steps * timeline.seconds_per_step:.1f} s",
                style.INK,
            ),
            (f"step {row} of {timeline.steps}", style.INK),
            (control, style.INK if kind == first else style.TAKEN_OVER),
        ]
        if task := timeline.task_status_at(row):
            lines.append((task, style.INK))
        if timeline.utility is not None:
            lines.append((f"utility {timeline.utility[row]:.2f}", style.CURVE))
        for text, color in lines:
            for line in wrap(text, self._font, self._side[0] - self._size):
                draw.text((x, y), line, color, self._font)
                y += self._line

    def _draw_marks(self, draw: ImageDraw.ImageDraw, marks: Sequence[ShownMark]) -> None:
        """The current marks, large, at the lower right of the solver's picture; the newest is the lowest."""
        size = round(1.5 * self._size)
        height = round(LINE_HEIGHT * size)
        for number, mark in enumerate(reversed(marks)):
            text = f"{mark.rater}: {'progress' if mark.sign > 0 else 'a slip'}"
            right, bottom = self._width - self._size, self._height - self._size - number * (height + self._size // 2)
            left = right - self._large.getlength(text) - 2.5 * size
            draw.rectangle((left, bottom - height, right, bottom), fill=style.mark(mark.sign))
            arrow(draw, (left + size, bottom - height / 2), 0.45 * size, mark.sign, style.PAPER)
            draw.text((left + 2 * size, bottom - height / 2), text, style.PAPER, self._large, "lm")

    def _draw_captions(self, draw: ImageDraw.ImageDraw, captions: Sequence[Caption]) -> None:
        kept = list(captions)
        while sum(len(self._wrapped(caption)) for caption in kept) > self._lines and len(kept) > 1:
            kept.remove(next((caption for caption in kept if not caption.is_new), kept[0]))
        y = self._height + self._size // 2
        for caption in kept:
            prefix = f"{caption.subtitle.speaker}: "
            bright, dim = style.caption_colors(caption.subtitle.speaker, self._timeline.solver)
            color = bright if caption.is_new else dim
            draw.text((self._size, y), prefix, color, self._font)
            for line in self._wrapped(caption)[: self._lines]:
                draw.text((self._size + self._font.getlength(prefix), y), line, color, self._font)
                y += self._line

    def _wrapped(self, caption: Caption) -> list[str]:
        used = self._font.getlength(f"{caption.subtitle.speaker}: ") + 2 * self._size
        return wrap(caption.subtitle.text, self._font, self._total_width - used)

    def _max_lines(self) -> int:
        """The largest number of caption lines on the screen at once, up to `MAX_CAPTION_LINES`."""
        shown = [self._timeline.captions_at(said.row) for said in self._timeline.subtitles]  # grows only with a new one
        return min(
            max((sum(map(len, map(self._wrapped, captions))) for captions in shown), default=1), MAX_CAPTION_LINES
        )


def _even(length: int) -> int:
    return length + length % 2
