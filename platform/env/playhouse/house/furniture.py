"""Furniture categories, which never move. Tables, chairs and racks are open, so objects fit under or into them."""

from __future__ import annotations

from interplay.env.playhouse.house.category import XYZ, BodyPart, Category, Surface, box, cone, cylinder, ellipsoid


def _legs(half: XYZ, top: float, inset: float = 0.05, thick: float = 0.03) -> tuple[BodyPart, ...]:
    """Four legs from the floor to `top` (a height in the furniture's own frame)."""
    x, y, z = half
    tall = (top + z) / 2
    return tuple(
        box((sx * (x - inset), sy * (y - inset), tall - z), (thick, thick, tall), "dark")
        for sx in (-1, 1)
        for sy in (-1, 1)
    )


def _furniture(
    name: str,
    half: XYZ,
    parts: tuple[BodyPart, ...],
    surface: Surface | None = None,
    *,
    wall: bool = False,
    attributes: str = "",
) -> Category:
    """Furniture whose boxes and cylinders are solid; cones and ellipsoids are decoration."""
    proxies = tuple(part for part in parts if part.primitive in ("box", "cylinder"))
    return Category(name, True, half, "composite", parts, proxies, frozenset(attributes.split()), surface, wall)


def _table(name: str, half: XYZ) -> Category:
    x, y, z = half
    top = box((0, 0, z - 0.025), (x, y, 0.025))
    return _furniture(name, half, (top, *_legs(half, z - 0.05)), Surface(z, (x, y)))


def _seat(name: str, half: XYZ, seat: float, arms: bool) -> Category:
    """An upholstered seat, its back towards -x; `seat` is the height of its cushion above the floor."""
    x, y, z = half
    parts = [
        box((0, 0, seat / 2 - z), (x, y, seat / 2), "dark"),
        box((0.1, 0, seat - z + 0.03), (x - 0.1, y - (0.12 if arms else 0), 0.03)),
        box((0.09 - x, 0, seat / 2), (0.09, y, z - seat / 2)),
    ]
    if arms:
        parts += [box((0.05, side * (y - 0.06), seat - z + 0.1), (x - 0.05, 0.06, 0.1)) for side in (-1, 1)]
    surface = Surface(seat - z + 0.06, (x - 0.2, y - 0.15))
    return _furniture(name, half, tuple(parts), surface, wall=True, attributes="sits")


_CHAIR: XYZ = (0.23, 0.23, 0.45)
_RACK: XYZ = (0.18, 0.45, 0.5)
_STOOL: XYZ = (0.18, 0.18, 0.23)
_LEDGE: XYZ = (0.15, 0.5, 0.4)

FURNITURE: tuple[Category, ...] = (
    _furniture(
        "bed", (0.95, 0.5, 0.35),
        (
            box((0, 0, -0.22), (0.95, 0.5, 0.13), "wood"), box((0.03, 0, -0.02), (0.9, 0.48, 0.07)),
            box((-0.9, 0, 0.15), (0.05, 0.5, 0.2), "wood"), ellipsoid((-0.62, 0, 0.06), (0.2, 0.36, 0.07), "white"),
        ),
        Surface(0.05, (0.4, 0.35)), wall=True,
    ),
    _seat("sofa", (0.42, 0.85, 0.4), 0.36, arms=True),
    _seat("armchair", (0.4, 0.42, 0.42), 0.36, arms=True),
    _furniture(
        "chair", _CHAIR,
        (
            box((0, 0, 0.0), (0.23, 0.23, 0.025)), box((-0.205, 0, 0.24), (0.025, 0.23, 0.21)),
            *_legs(_CHAIR, -0.025, 0.03, 0.025),
        ),
        attributes="sits",
    ),
    _furniture(
        "stool", _STOOL, (cylinder((0, 0, 0.205), 0.18, 0.025), *_legs(_STOOL, 0.18, 0.07, 0.022)),
        Surface(0.23, (0.18, 0.18)), attributes="sits",
    ),
    _furniture(
        "footrest", (0.25, 0.25, 0.17),
        (box((0, 0, 0.05), (0.25, 0.25, 0.12)), box((0, 0, -0.12), (0.2, 0.2, 0.05), "wood")),
        Surface(0.17, (0.25, 0.25)),
    ),
    _furniture(
        "chest", (0.25, 0.4, 0.25),
        (
            box((0, 0, -0.04), (0.24, 0.39, 0.21)), box((0, 0, 0.21), (0.25, 0.4, 0.04), "dark"),
            box((0.245, 0, 0.13), (0.012, 0.04, 0.05), "yellow"),
        ),
        Surface(0.25, (0.25, 0.4)), wall=True,
    ),
    _furniture(
        "wardrobe", (0.3, 0.5, 0.95),
        (
            box((0, 0, 0), (0.29, 0.5, 0.95)), box((0.292, 0, 0), (0.006, 0.008, 0.9), "black"),
            box((0.3, 0.06, 0), (0.012, 0.012, 0.07), "grey"), box((0.3, -0.06, 0), (0.012, 0.012, 0.07), "grey"),
        ),
        wall=True,
    ),
    _furniture(
        "rack", _RACK,
        (
            *(box((0, 0, z), (0.18, 0.45, 0.02)) for z in (-0.44, 0.02, 0.48)),
            box((0, 0.43, 0), (0.18, 0.02, 0.5), "dark"), box((0, -0.43, 0), (0.18, 0.02, 0.5), "dark"),
        ),
        Surface(0.5, (0.18, 0.45)), wall=True,
    ),
    _furniture(
        "ledge", _LEDGE,
        (
            box((0, 0, 0.375), (0.15, 0.5, 0.025)), box((0, 0.4, -0.025), (0.13, 0.03, 0.375), "dark"),
            box((0, -0.4, -0.025), (0.13, 0.03, 0.375), "dark"),
        ),
        Surface(0.4, (0.15, 0.5)), wall=True,
    ),
    _table("dining table", (0.45, 0.75, 0.36)),
    _table("table", (0.35, 0.35, 0.25)),
    _furniture(
        "bathtub", (0.38, 0.75, 0.26),
        (
            box((0, 0, -0.21), (0.38, 0.75, 0.05)), box((0.34, 0, 0.05), (0.04, 0.75, 0.21)),
            box((-0.34, 0, 0.05), (0.04, 0.75, 0.21)), box((0, 0.71, 0.05), (0.3, 0.04, 0.21)),
            box((0, -0.71, 0.05), (0.3, 0.04, 0.21)), box((0, 0, -0.15), (0.3, 0.67, 0.01), "glass"),
        ),
        wall=True,
    ),
    _furniture(
        "lamp", (0.2, 0.2, 0.75),
        (
            cylinder((0, 0, -0.73), 0.16, 0.02, "grey"), cylinder((0, 0, -0.12), 0.025, 0.62, "grey"),
            cone((0, 0, 0.57), 0.2, 0.18), ellipsoid((0, 0, 0.37), (0.07, 0.07, 0.06), "glow"),
        ),
        attributes="light",
    ),
    _furniture(
        "fridge", (0.3, 0.32, 0.85),
        (
            box((0, 0, 0), (0.29, 0.32, 0.85)), box((0.292, 0, 0.25), (0.004, 0.32, 0.012), "black"),
            box((0.295, 0.24, 0.5), (0.012, 0.02, 0.14), "grey"), box((0.295, 0.24, -0.05), (0.012, 0.02, 0.2), "grey"),
        ),
        wall=True,
    ),
    _furniture(
        "sink", (0.22, 0.28, 0.42),
        (
            cylinder((-0.05, 0, -0.11), 0.09, 0.31), box((0, 0, 0.24), (0.22, 0.28, 0.04)),
            box((0.2, 0, 0.31), (0.02, 0.28, 0.03)), box((-0.17, 0, 0.31), (0.05, 0.28, 0.03)),
            box((0.015, 0.26, 0.31), (0.165, 0.02, 0.03)), box((0.015, -0.26, 0.31), (0.165, 0.02, 0.03)),
            box((0.015, 0, 0.285), (0.165, 0.24, 0.006), "glass"), cylinder((-0.17, 0, 0.37), 0.02, 0.05, "grey"),
            cylinder((-0.12, 0, 0.4), 0.018, 0.06, "grey", "x"),
        ),
        wall=True,
    ),
    _furniture(
        "easel", (0.22, 0.36, 0.6),
        (
            box((-0.02, 0, 0.2), (0.02, 0.36, 0.28)), box((0.002, 0, 0.2), (0.004, 0.31, 0.23), "black"),
            box((0.008, 0.1, 0.28), (0.002, 0.06, 0.06), "yellow"),
            box((0.008, -0.12, 0.16), (0.002, 0.08, 0.03), "white"),
            box((0.02, 0, -0.1), (0.04, 0.36, 0.015), "dark"),
            *(box((0.15 * a, 0.3 * b, -0.35), (0.025, 0.025, 0.25), "wood") for a in (-1, 1) for b in (-1, 1)),
            *(box((0, 0.3 * b, -0.13), (0.22, 0.025, 0.025), "wood") for b in (-1, 1)),
            *(box((-0.02, 0.3 * b, 0.54), (0.025, 0.025, 0.06), "wood") for b in (-1, 1)),
        ),
        wall=True,
    ),
)  # fmt: skip
