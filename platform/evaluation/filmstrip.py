"""Rows of small pictures for a page: each at its own size in bytes, enlarged by the browser with hard pixel edges."""

from __future__ import annotations

import base64
import html
import io

from PIL import Image

from interplay.evaluation.material import Filmstrip, Picture


def picture_url(picture: Picture) -> str:
    """A uint8 [H, W, 3] picture as a PNG in a data URL."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def picture_html(picture: Picture, caption: str) -> str:
    """One picture with its caption."""
    words = html.escape(caption)
    image = f'<img src="{picture_url(picture)}" alt="{words}">'
    return f'<figure class="frame">{image}<figcaption>{words}</figcaption></figure>'


def filmstrip_html(strip: Filmstrip) -> str:
    """One episode's moments, its instruction above them and its outcome beside the title."""
    frames = "".join(
        picture_html(picture, caption) for picture, caption in zip(strip.pictures, strip.captions, strict=True)
    )
    return (
        f'<article class="episode"><h3>{html.escape(strip.title)} '
        f'<span class="outcome">{html.escape(strip.outcome)}</span></h3>'
        f'<p class="speech">“{html.escape(strip.instruction)}”</p><div class="strip">{frames}</div></article>'
    )
