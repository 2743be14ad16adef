"""Reader of the gold structures of the Minecraft Dialogue Corpus from a local copy of its repository."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

from interplay.env.voxel.space import COLORS, Grid, color_id, empty_grid, in_zone

FOLDER = Path("data") / "gold-configurations"
ORIGIN = (95, 1, 95)  # x, y, z of the cell (0, 0, 0) in the corpus
FETCH = (
    "fetch github.com/prashant-jayan21/minecraft-dialogue-models and name its folder, as "
    "TaskSet('C8', path='minecraft-dialogue-models'); own structures, as TaskSet('own'), need no corpus"
)
_BLOCK_TYPE = re.compile(r"cwcmod:cwc_(?:minecraft_)?(\w+)_rn")
_COUNTS = """
38/5 20/2 3/1 17/4 20/2 40/4 23/2 12/2 33/2 21/3 21/2 18/6 29/3 16/3 36/4 24/4 3/1 12/3 48/3 9/6 29/2 6/5 68/4 46/4
18/2 15/6 25/4 21/2 20/5 20/6 20/3 5/1 14/2 13/3 20/6 31/3 56/6 6/2 24/3 9/6 19/3 18/4 29/3 19/4 14/2 11/6 18/3 38/4
36/4 15/3 16/4 31/3 20/4 10/3 19/3 25/4 17/2 24/2 20/4 20/6 19/2 32/3 6/1 18/2 15/3 30/3 25/2 25/6 38/5 29/2 15/4
37/4 18/3 14/4 11/6 16/5 49/5 24/3 25/4 18/4 17/3 41/4 33/4 13/2 9/2 24/3 10/1 19/2 23/2 30/4 41/5 16/2 8/2 35/6
26/3 16/4 14/2 24/6 35/2 42/4 39/3 17/4 19/1 36/2 34/3 18/2 20/3 29/2 11/2 16/4 16/4 33/5 43/4 18/2 23/4 17/4 20/4
12/2 38/3 14/2 19/3 25/4 26/3 29/3 22/3 20/2 26/3 16/4 34/3 24/2 35/6 20/2 28/3 28/6 13/1 18/4 39/2 42/6 16/3 28/4
20/4 28/3 21/5 20/3 19/1 17/5 26/4 40/4 37/4 16/6 16/3 25/3 27/2 52/6 24/2 24/2 24/3
"""

# Blocks and colors of each gold structure, C1 to C157, as measured in the corpus.
GOLD_COUNTS: Mapping[str, tuple[int, int]] = {
    f"C{number}": (int(pair.partition("/")[0]), int(pair.partition("/")[2]))
    for number, pair in enumerate(_COUNTS.split(), 1)
}


def read_gold_structures(path: str | Path | None, names: Sequence[str]) -> Mapping[str, Grid]:
    """The named structures, int8 [9, 11, 11], from a copy of the corpus or from its folder of gold configurations.

    Raises:
        ValueError: no path, a structure that is not there, or a malformed file.
    """
    if path is None:
        raise ValueError(f"{', '.join(names)}: structures of the Minecraft Dialogue Corpus; {FETCH}")
    folder = Path(path) / FOLDER if (Path(path) / FOLDER).is_dir() else Path(path)
    if missing := [name for name in names if not (folder / f"{name}.xml").is_file()]:
        raise ValueError(f"{folder} has no {missing[0]}.xml; {FETCH}")
    return {name: read_structure(folder / f"{name}.xml") for name in names}


def read_structure(path: Path) -> Grid:
    """The grid of one gold configuration, an XML file of `DrawBlock` elements without a root.

    Raises:
        ValueError: no readable file, malformed XML, no block, an unknown one, a cell outside the zone, or one that is
            drawn twice.
    """
    try:
        root = ET.fromstring(f"<blocks>{path.read_text()}</blocks>")
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    except (ET.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is malformed: {error}") from error
    grid = empty_grid()
    for element in root:
        text = ET.tostring(element, encoding="unicode").strip()
        name = _BLOCK_TYPE.fullmatch(element.get("type", ""))
        if element.tag != "DrawBlock" or name is None or name[1] not in COLORS:
            raise ValueError(f"{path}: {text} is not a block of a known color")
        try:
            x, y, z = (int(element.get(axis, "")) - origin for axis, origin in zip("xyz", ORIGIN, strict=True))
        except ValueError as error:
            raise ValueError(f"{path}: {text} has no whole x, y and z") from error
        if not in_zone((y, x, z)):
            raise ValueError(f"{path}: {text} is outside the zone")
        if grid[y, x, z]:
            raise ValueError(f"{path}: {text} is drawn twice")
        grid[y, x, z] = color_id(name[1])
    if not grid.any():
        raise ValueError(f"{path} has no block")
    return grid
