"""Migration of tasks that version 0.1 stored in episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.core.renamed_settings import RENAMED_TASK_KINDS

RENAMED_MODIFIERS = {"by_colour": "by_color", "location_by_colour": "location_by_color"}
RENAMED_FIELDS = {"things": "candidates", "among": "candidates", "wanted": "count", "beside": "furniture"}
# Fields that are now values of the baseline.
BASELINE_FIELDS = {
    "start": "walk",
    "apart": "carry",
    "asked": "since",
    "rest_height": "height",
    "away": "doorway",
    "placed": "placed",
    "spot_x": "spot_x",
    "spot_y": "spot_y",
}


def migrated(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a stored task under their present names; those of the present version unchanged."""
    kind, modifier = str(stored["kind"]), stored.get("modifier")
    fields = {**stored, "kind": RENAMED_TASK_KINDS.get(kind, kind)}
    if modifier is not None:
        fields["modifier"] = RENAMED_MODIFIERS.get(modifier, modifier)
    if "baseline" in fields:
        return fields
    for part in ("first", "second"):
        if part in fields:
            fields[part] = migrated(fields[part])
    if "mistakes" in fields:
        return {"scope": "house" if "room" in fields else "room", **fields}
    fields = {RENAMED_FIELDS.get(name, name): value for name, value in fields.items()}
    baseline = {new: fields.pop(old) for old, new in BASELINE_FIELDS.items() if old in fields}
    return fields | ({"baseline": baseline | _baseline_of_candidates(fields)} if baseline else {})


def _baseline_of_candidates(fields: dict[str, Any]) -> dict[str, float]:
    """Moves the lists of `starts`, `aparts` and `origins` of the candidates to values of the baseline."""
    indices = fields.get("candidates", ())
    walks, carries, origins = (fields.pop(name, ()) for name in ("starts", "aparts", "origins"))
    baseline = {f"walk_{i}": walk for i, walk in zip(indices, walks, strict=False)}
    baseline |= {f"carry_{i}": carry for i, carry in zip(indices, carries, strict=False)}
    axes = [f"{axis}_{i}" for i in indices for axis in "xy"]
    return baseline | dict(zip(axes, origins, strict=False))
