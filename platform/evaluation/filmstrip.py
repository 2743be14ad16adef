"""Rows of small pictures for a page: each at its own size in bytes, enlarged by the browser with hard pixel edges."""

from __future__ import annotations

import base64
import html
import io

import numpy as np
from PIL import Image

from interplay.evaluation.material import Filmstrip, Picture
from interplay.evaluation.probes import Film


def chosen_rows(rows: int, count: int) -> list[int]:
    """At most `count` of the rows 0 .. rows - 1, evenly spread, the first and the last among them."""
    return sorted({round(row) for row in np.linspace(0, rows - 1, min(count, rows)).tolist()})


def film_filmstrip(film: Film, *, title: str, seconds_per_step: float, frames: int = 8) -> Filmstrip:
    """A probe that was filmed to its end as a filmstrip; what the solver said is part of the outcome."""
    if film.result is None:
        raise ValueError(f"the film of probe {film.probe.kind} {film.probe.index} has not been played to its end")
    result = film.result
    taken = f"{result.steps * seconds_per_step:.1f} s"
    outcome = f"not solved in {taken}" if result.success_step is None else f"solved in {taken}"
    said = "".join(f", said “{words}”" for words in result.said)
    rows = chosen_rows(len(film.pictures), frames)
    return Filmstrip(
        title=title,
        instruction=result.instruction,
        outcome=outcome + said,
        pictures=[film.pictures[row] for row in rows],
        captions=[f"{row * seconds_per_step:.1f} s" for row in rows],
    )


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
