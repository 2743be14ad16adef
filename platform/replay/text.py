"""Text on pictures: the font that Pillow brings, and lines broken to a width."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
LINE = 1.35  # height of a line of text in sizes of its font


def font(size: int) -> Font:
    """Pillow's own font; `size` in pixels."""
    return ImageFont.load_default(size)


def wrap(text: str, face: Font, width: float) -> list[str]:
    """The text in lines of at most `width` pixels, broken between words, or within one that alone is too long."""
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
    """A word in pieces that each fit; at least one letter a piece, however narrow the line."""
    while word:
        fits = next((n for n in range(len(word), 1, -1) if face.getlength(word[:n]) <= width), 1)
        yield word[:fits]
        word = word[fits:]
