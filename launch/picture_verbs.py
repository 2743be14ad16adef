"""The verbs that draw a world: `look` and `catalog`."""

from __future__ import annotations

import sys
from contextlib import closing

from interplay.launch import contact_sheets, world_sheet
from interplay.launch.opened_run import opened_for_work
from interplay.stages.config import Config


def look(config: Config) -> int:
    """Draws the players' views, the whole and a map."""
    with opened_for_work(config) as run, closing(run.make_world()) as world:
        path = world_sheet.draw_world_sheet(world, seed=run.seed, path=run.root / "look.png")
    sys.stdout.write(f"What the players see, and the whole: {path.resolve()}\n")
    return 0


def catalog(config: Config) -> int:
    """Draws all kinds of things, and houses."""
    with opened_for_work(config) as run, closing(run.make_world()) as world:
        paths = contact_sheets.draw_contact_sheets(world, seed=run.seed, folder=run.root / "catalog")
    lines = [f"  {path.resolve()}\n" for path in paths]
    sys.stdout.write(
        f"All kinds of things and {contact_sheets.NUM_HOUSES} houses as the players see them:\n{''.join(lines)}"
    )
    return 0
