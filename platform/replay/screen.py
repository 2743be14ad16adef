"""Draws a row of a replay: the solver's eyes large, a map and another view beside them, captions and the curve below::

+----------------+--------+
| solver's eyes  | map    |
|                +--------+
|                | setter |
|        marks   +--------+
|                | status |
+----------------+--------+
| captions                |
| trace                   |
+-------------------------+
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw

from interplay.env.arrays import Image
from interplay.replay import palette
from interplay.replay.curve import UtilityCurve, arrow
from interplay.replay.story import Caption, Click, Story
from interplay.replay.text import LINE, font, wrap

SIDE = 3 / 8  # of the solver's picture: size of each picture beside it
CURVE, TIMELINE = 0.24, 0.13  # of its height: that of the curve of utility, and of a line with marks alone
MOST_LINES = 8  # of captions
TEXT = 1 / 28  # of its height
STEERS = {"human": "a person", "agent": "the agent", "scripted": "a script", "replay": "a recording"}


class ReplayScreen:
    """One layout for a whole replay. `draw` keeps nothing from one row to another.

    `height` and `width` are those of the solver's picture; `titles` names the pictures beside it, none to two.
    """

    def __init__(self, story: Story, *, height: int, width: int, titles: Sequence[str]) -> None:
        self._story, self._height, self._width, self._titles = story, height, width, tuple(titles)
        self._size = max(10, round(TEXT * height))
        self._font, self._large = font(self._size), font(round(1.5 * self._size))
        self._line = round(LINE * self._size)
        self._side = round(SIDE * width), round(SIDE * height)  # width, height
        self._across = _even(width + self._side[0])
        self._lines = self._most_lines()
        self._captions = self._lines * self._line + self._size
        panel = round((TIMELINE if story.utility is None else CURVE) * height)
        self._down = _even(height + self._captions + panel)
        box = (0, height + self._captions, self._across, self._down)
        self._curve = UtilityCurve(story, box=box, face=font(max(9, round(0.8 * self._size))))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of what `draw` returns; both even, as the encoder wants them."""
        return self._down, self._across

    def draw(self, row: int, pictures: Mapping[str, Image]) -> NDArray[np.uint8]:
        """The row, uint8 [*shape, 3]; `pictures` are its pictures by title, each uint8 [h, w, 3] of any size."""
        sheet = Pillow.new("RGB", (self._across, self._down), palette.PAPER)
        draw = ImageDraw.Draw(sheet)
        self._paste(sheet, pictures[self._story.solver], (0, 0), (self._width, self._height))
        self._label(draw, (0, 0), f"{self._story.solver}'s eyes")
        for number, title in enumerate(self._titles):
            corner = (self._width, number * self._side[1])
            self._paste(sheet, pictures[title], corner, self._side)
            self._label(draw, corner, f"{title}'s eyes" if title == self._story.asker else title)
        self._status(draw, row)
        self._marks(draw, self._story.marks(row))
        self._captioned(draw, self._story.captions(row))
        self._curve.draw(draw, row)
        return np.asarray(sheet)

    def _paste(self, sheet: Pillow.Image, picture: Image, corner: tuple[int, int], box: tuple[int, int]) -> None:
        """Fits a picture into a box, as large as it goes; small ones keep hard pixel edges."""
        image = Pillow.fromarray(picture)
        scale = min(box[0] / image.width, box[1] / image.height)
        size = max(1, round(scale * image.width)), max(1, round(scale * image.height))
        how = Pillow.Resampling.NEAREST if scale >= 2 else Pillow.Resampling.BOX
        fitted = image if size == image.size else image.resize(size, how)
        sheet.paste(fitted, (corner[0] + (box[0] - size[0]) // 2, corner[1] + (box[1] - size[1]) // 2))

    def _label(self, draw: ImageDraw.ImageDraw, corner: tuple[int, int], text: str) -> None:
        x, y = corner
        draw.rectangle((x, y, x + self._font.getlength(text) + self._size, y + self._line), fill=palette.LABEL)
        draw.text((x + self._size // 2, y + self._line // 2), text, palette.PAPER, self._font, "lm")

    def _status(self, draw: ImageDraw.ImageDraw, row: int) -> None:
        """Time, step, and who steers, below the pictures at the side."""
        story = self._story
        who, first = story.steers(row), story.steered[0][1]
        steers = f"{STEERS.get(who, who)} steers the {story.solver}"
        x, y = self._width + self._size // 2, len(self._titles) * self._side[1] + self._size // 2
        lines = [
            (f"{row * story.seconds_per_step:.1f} s of {story.steps * story.seconds_per_step:.1f} s", palette.INK),
            (f"step {row} of {story.steps}", palette.INK),
            (steers, palette.INK if who == first else palette.TAKEN_OVER),
        ]
        if task := story.task(row):
            lines.append((task, palette.INK))
        if story.utility is not None:
            lines.append((f"utility {story.utility[row]:.2f}", palette.CURVE))
        for text, color in lines:
            for part in wrap(text, self._font, self._side[0] - self._size):
                draw.text((x, y), part, color, self._font)
                y += self._line

    def _marks(self, draw: ImageDraw.ImageDraw, clicks: Sequence[Click]) -> None:
        """The marks of the moment, large, at the lower right of the solver's picture; the newest lowest."""
        size = round(1.5 * self._size)
        tall = round(LINE * size)
        for number, click in enumerate(reversed(clicks)):
            text = f"{click.rater}: {'progress' if click.sign > 0 else 'a slip'}"
            right, bottom = self._width - self._size, self._height - self._size - number * (tall + self._size // 2)
            left = right - self._large.getlength(text) - 2.5 * size
            draw.rectangle((left, bottom - tall, right, bottom), fill=palette.mark(click.sign))
            arrow(draw, (left + size, bottom - tall / 2), 0.45 * size, click.sign, palette.PAPER)
            draw.text((left + 2 * size, bottom - tall / 2), text, palette.PAPER, self._large, "lm")

    def _captioned(self, draw: ImageDraw.ImageDraw, captions: Sequence[Caption]) -> None:
        kept = list(captions)
        while sum(len(self._wrapped(caption)) for caption in kept) > self._lines and len(kept) > 1:
            kept.remove(next((caption for caption in kept if not caption.fresh), kept[0]))
        y = self._height + self._size // 2
        for caption in kept:
            who = f"{caption.line.who}: "
            bright, dim = palette.speaker(caption.line.who, self._story.solver)
            color = bright if caption.fresh else dim
            draw.text((self._size, y), who, color, self._font)
            for part in self._wrapped(caption)[: self._lines]:
                draw.text((self._size + self._font.getlength(who), y), part, color, self._font)
                y += self._line

    def _wrapped(self, caption: Caption) -> list[str]:
        taken = self._font.getlength(f"{caption.line.who}: ") + 2 * self._size
        return wrap(caption.line.text, self._font, self._across - taken)

    def _most_lines(self) -> int:
        """Lines of captions: room for all that ever stands on the screen at once, within reason."""
        stand = [self._story.captions(line.row) for line in self._story.lines]  # there are most when one is added
        return min(max((sum(len(self._wrapped(one)) for one in captions) for captions in stand), default=1), MOST_LINES)


def _even(length: int) -> int:
    return length + length % 2
