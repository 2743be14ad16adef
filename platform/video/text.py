"""Text on pictures: Pillow's built-in font, and line wrapping."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import ImageFont

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
