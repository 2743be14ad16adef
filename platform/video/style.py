"""The colors of a replay, and its text: Pillow's built-in font, and line wrapping."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import ImageFont

Color = tuple[int, int, int]

PAPER: Color = (250, 250, 248)
INK: Color = (40, 40, 40)
FAINT: Color = (205, 205, 200)
LABEL: Color = (60, 60, 66)
CURVE: Color = (40, 90, 170)
TAKEN_OVER: Color = (200, 100, 0)
UP: Color = (30, 140, 60)
DOWN: Color = (200, 40, 40)

# Caption colors: (while the caption is new, after it has been read).
_SOLVER: tuple[Color, Color] = ((160, 70, 0), (175, 130, 95))
_OTHERS: tuple[Color, Color] = ((20, 70, 170), (105, 125, 170))


def mark(sign: int) -> Color:
    """The color of a mark: +1 progress, -1 a slip."""
    return UP if sign > 0 else DOWN


def caption_colors(speaker: str, solver: str) -> tuple[Color, Color]:
    """The colors of a speaker's captions: while new, and after they have been read."""
    return _SOLVER if speaker == solver else _OTHERS


Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
LINE_HEIGHT = 1.35  # as a multiple of the font size


def font(size: int) -> Font:
    """Returns Pillow's built-in font; `size` in pixels."""
    return ImageFont.load_default(size)


def wrap(text: str, face: Font, width: float) -> list[str]:
    """Wraps text into lines of at most `width` pixels; a word that is too long for a line is split."""
    lines = [""]
    for word in text.split():
        for piece in _pieces(word, face, width):
            longer = f"{lines[-1]} {piece}".strip()
            if lines[-1] and face.getlength(longer) > width:
                lines.append(piece)
            else:
                lines[-1] = longer
    return lines


def _pieces(word: str, face: Font, width: float) -> Iterator[str]:
    """Splits a word into pieces that fit, of at least one letter each, however narrow the line."""
    while word:
        fits = next((n for n in range(len(word), 1, -1) if face.getlength(word[:n]) <= width), 1)
        yield word[:fits]
        word = word[fits:]
