"""Settings of the voxel world, validated together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from interplay.env.arrays import picture_problem
from interplay.env.voxel.controls import Control, ControlScheme
from interplay.env.voxel.space import COLORS, color_id
from interplay.env.voxel.tasksets import FROM_FILES, IMPORTED, SPLITS, TARGETS, Split, Targets

_SHAPING = ("control", "auto_jump", "blocks", "colors", "targets", "data")  # settings that decide episodes


@dataclass(frozen=True)
class VoxelConfig:
    """Scenes, control and observation of the voxel world."""

    control: Control = "discrete"  # human: walk, 5 frames a step; discrete: by cells; fly: through blocks
    components: tuple[str, ...] | None = None  # of the movement, those that the agent has; None: all of the control
    select_and_place: bool = False  # choosing a color places a block at once, without the component `use`
    auto_jump: bool = False  # control=discrete climbs one block without `jump`
    blocks: tuple[int, int] = (3, 5)  # least and most blocks at the start, each of another color
    colors: tuple[str, ...] = COLORS  # of the blocks at the start
    targets: Targets | None = None  # task set whose targets and start grids make the episodes; None: scenes of `blocks`
    data: str = ""  # file or folder of the task set, if it needs one
    split: Split = "train"  # of the tasks of an imported corpus: heldout is val and test
    image: tuple[int, int] = (48, 64)  # (height, width) in pixels
    field_of_view: float = 80.0  # vertical, degrees
    compass: bool = True  # whether the vector has the sine and cosine of the compass
    held: bool = True  # whether the vector has the color held, one-hot
    full_state: bool = False  # whether the vector has the position and the grid

    def __post_init__(self) -> None:
        wrong = []
        least, most = self.blocks
        if not 0 <= least <= most <= len(self.colors):
            wrong.append(
                f"blocks={list(self.blocks)}: least to most, from 0 to the number of colors, {len(self.colors)}"
            )
        if len(set(self.colors)) != len(self.colors):
            wrong.append(f"colors={list(self.colors)} names one twice")
        if problem := picture_problem(self.image):
            wrong.append(problem)
        if not 10 <= self.field_of_view <= 150:
            wrong.append(f"field_of_view={self.field_of_view}: from 10 to 150 degrees")
        if self.targets is not None and self.targets not in TARGETS:
            wrong.append(f"targets={self.targets}: one of {', '.join(TARGETS)}")
        elif self.targets in FROM_FILES and not self.data:
            example = "tasks.json" if self.targets == "custom" else "runs/run/corpus"
            wrong.append(f"targets={self.targets} reads a file: set env.data, as env.data={example}")
        elif self.data and self.targets not in FROM_FILES:
            wrong.append(f"data={self.data} is read only with targets={', '.join(FROM_FILES)}")
        if self.split not in SPLITS:
            wrong.append(f"split={self.split}: one of {', '.join(SPLITS)}")
        elif self.split != "train" and self.targets not in IMPORTED:
            wrong.append(f"split={self.split} is read only with targets={' or '.join(IMPORTED)}")
        if wrong:
            raise ValueError("these settings make no voxel world:\n  " + "\n  ".join(wrong))
        for color in self.colors:
            color_id(color)
        self.scheme()

    def scheme(self) -> ControlScheme:
        """The control scheme of these settings."""
        return ControlScheme(self.control, self.components, self.select_and_place)

    def shape_hash(self) -> str:
        """Hash of the settings that decide how episodes begin and how the builder moves; a saved state names it."""
        fields = {name: value for name, value in asdict(self).items() if name in _SHAPING}
        if self.split != "train":  # states saved before there was a choice have no split in their hash
            fields["split"] = self.split
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]
