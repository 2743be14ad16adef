"""Object categories: toy-like, 15 to 40 cm, distinguishable by their outlines."""

from __future__ import annotations

from interplay.env.playhouse.house.category import XYZ, BodyPart, Category, box, cone, cylinder, ellipsoid

BIN_WALL_M = 0.02  # half thickness of a bin's walls; thinner ones let fast objects through


def _object(name: str, shape: str, half: XYZ, attributes: str, *parts: BodyPart) -> Category:
    """An object with a single collision proxy that fills its bounding box."""
    proxy = BodyPart("ellipsoid" if shape == "sphere" else shape, (0.0, 0.0, 0.0), half)
    return Category(name, False, half, shape, parts, (proxy,), frozenset(attributes.split()))


def _open_box(half: XYZ) -> tuple[BodyPart, ...]:
    """A floor and four walls."""
    x, y, z = half
    return (
        box((0, 0, BIN_WALL_M - z), (x, y, BIN_WALL_M), "dark"),
        box((x - BIN_WALL_M, 0, BIN_WALL_M), (BIN_WALL_M, y, z - BIN_WALL_M)),
        box((BIN_WALL_M - x, 0, BIN_WALL_M), (BIN_WALL_M, y, z - BIN_WALL_M)),
        box((0, y - BIN_WALL_M, BIN_WALL_M), (x - 2 * BIN_WALL_M, BIN_WALL_M, z - BIN_WALL_M)),
        box((0, BIN_WALL_M - y, BIN_WALL_M), (x - 2 * BIN_WALL_M, BIN_WALL_M, z - BIN_WALL_M)),
    )


def _wheels(x: float, y: float, z: float, radius: float) -> tuple[BodyPart, ...]:
    return tuple(cylinder((sx * x, sy * y, z), radius, 0.02, "black", "y") for sx in (-1, 1) for sy in (-1, 1))


def _lining(half: XYZ) -> tuple[BodyPart, ...]:
    """The dark inside of an open box, which shows from afar that it is open."""
    x, y, z = half[0] - 2 * BIN_WALL_M, half[1] - 2 * BIN_WALL_M, half[2] - BIN_WALL_M - 0.015
    return (
        box((0, 0, 2 * BIN_WALL_M - half[2] + 0.002), (x, y, 0.002), "black"),
        *(box((side * (x - 0.002), 0, 0.005), (0.002, y, z), "black") for side in (-1, 1)),
        *(box((0, side * (y - 0.002), 0.005), (x, 0.002, z), "black") for side in (-1, 1)),
    )


def _chair(half: XYZ) -> tuple[BodyPart, ...]:
    """A seat with a back of two rails, on four legs; it faces +x."""
    x, y, z = half
    return (
        box((0, 0, 0), (x, y, 0.02)),
        box((0.02 - x, 0, z - 0.04), (0.02, y, 0.04)), box((0.02 - x, 0, z / 2 - 0.03), (0.02, y, 0.03)),
        *(box((0.02 - x, side * (y - 0.02), z / 2), (0.02, 0.02, z / 2), "dark") for side in (-1, 1)),
        *(box((a * (x - 0.02), b * (y - 0.02), -z / 2), (0.02, 0.02, z / 2), "dark") for a in (-1, 1) for b in (-1, 1)),
    )  # fmt: skip


_BIN: XYZ = (0.2, 0.2, 0.16)
_MINI: XYZ = (0.15, 0.15, 0.22)

OBJECTS: tuple[Category, ...] = (
    _object("ball", "sphere", (0.14, 0.14, 0.14), "round toy", ellipsoid((0, 0, 0), (0.14, 0.14, 0.14))),
    _object("block", "box", (0.12, 0.12, 0.12), "rectangular toy", box((0, 0, 0), (0.12, 0.12, 0.12))),
    _object(
        "book", "box", (0.12, 0.16, 0.04), "rectangular",
        box((0, 0, 0.034), (0.12, 0.16, 0.006)), box((0, 0, -0.034), (0.12, 0.16, 0.006)),
        box((-0.114, 0, 0), (0.006, 0.16, 0.03)), box((0, 0, 0), (0.11, 0.15, 0.028), "trim"),
        box((0.02, 0, 0.0405), (0.045, 0.09, 0.001), "trim"), box((0.03, 0, 0.0415), (0.01, 0.07, 0.001), "black"),
    ),
    Category("bin", False, _BIN, "composite", (*_open_box(_BIN), *_lining(_BIN)), _open_box(_BIN),
             frozenset({"container"})),
    _object(
        "box", "box", (0.18, 0.14, 0.13), "rectangular",
        box((0, 0, -0.025), (0.17, 0.13, 0.105)), box((0, 0, 0.105), (0.18, 0.14, 0.025), "dark"),
        box((0, 0, 0), (0.03, 0.141, 0.131), "trim"), box((0, 0, 0), (0.181, 0.03, 0.131), "trim"),
    ),
    _object(
        "plate", "cylinder", (0.18, 0.18, 0.03), "round",
        cylinder((0, 0, -0.015), 0.12, 0.015, "dark"), cylinder((0, 0, 0.015), 0.18, 0.015),
        cylinder((0, 0, 0.031), 0.12, 0.001, "light"),
    ),
    _object(
        "mug", "cylinder", (0.11, 0.11, 0.12), "round container",
        cylinder((0, 0, 0), 0.11, 0.12), cylinder((0, 0, 0.12), 0.09, 0.002, "black"),
        box((0, 0.14, 0.05), (0.02, 0.04, 0.018)), box((0, 0.14, -0.05), (0.02, 0.04, 0.018)),
        box((0, 0.17, 0), (0.02, 0.018, 0.065)),
    ),
    _object(
        "bottle", "cylinder", (0.09, 0.09, 0.22), "round container",
        cylinder((0, 0, -0.08), 0.09, 0.14), cone((0, 0, 0.11), 0.09, 0.07), cylinder((0, 0, 0.14), 0.035, 0.06),
        cylinder((0, 0, 0.2), 0.045, 0.02, "black"), cylinder((0, 0, -0.08), 0.092, 0.055, "trim"),
    ),
    _object(
        "candle", "cylinder", (0.08, 0.08, 0.2), "round light",
        cylinder((0, 0, -0.06), 0.06, 0.14), cylinder((0, 0, -0.185), 0.1, 0.015, "grey"),
        ellipsoid((0, 0, 0.13), (0.045, 0.045, 0.05), "yellow"), cone((0, 0, 0.17), 0.035, 0.03, "orange"),
        cylinder((0, 0, 0.08), 0.012, 0.02, "black"),
    ),
    _object(
        "roll", "cylinder", (0.11, 0.11, 0.11), "round",
        cylinder((0, 0, 0), 0.11, 0.11), cylinder((0, 0, 0), 0.06, 0.112, "brown"),
        cylinder((0, 0, 0), 0.04, 0.113, "black"),
        box((0.112, 0.03, -0.03), (0.006, 0.07, 0.08), "light"), box((0.119, 0.03, -0.1), (0.006, 0.07, 0.01), "trim"),
    ),
    _object(
        "soap", "box", (0.14, 0.09, 0.05), "",
        ellipsoid((0, 0, -0.01), (0.14, 0.09, 0.045)), ellipsoid((0.06, 0.02, 0.035), (0.04, 0.04, 0.04), "trim"),
        ellipsoid((0.0, -0.02, 0.045), (0.03, 0.03, 0.03), "trim"),
        ellipsoid((-0.05, 0.02, 0.03), (0.035, 0.035, 0.035), "trim"),
    ),
    _object(
        "pillow", "box", (0.15, 0.2, 0.07), "rectangular",
        ellipsoid((0, 0, 0), (0.14, 0.19, 0.07)), box((0, 0, 0), (0.15, 0.2, 0.025)),
    ),
    _object(
        "drum", "cylinder", (0.16, 0.16, 0.13), "round music toy",
        cylinder((0, 0, 0), 0.15, 0.12), cylinder((0, 0, 0.12), 0.16, 0.012, "trim"),
        cylinder((0, 0, -0.12), 0.16, 0.012, "trim"), cylinder((0, 0, 0), 0.152, 0.02, "light"),
    ),
    _object(
        "duck", "box", (0.17, 0.11, 0.16), "swims animal toy",
        ellipsoid((-0.02, 0, -0.06), (0.15, 0.11, 0.1)), ellipsoid((0.07, 0, 0.07), (0.08, 0.08, 0.08)),
        cone((0.15, 0, 0.06), 0.04, 0.04, "orange", "x"), cone((-0.15, 0, 0.0), 0.06, 0.05, "dark", "-x"),
        ellipsoid((0.12, 0.05, 0.1), (0.018, 0.018, 0.018), "black"),
        ellipsoid((0.12, -0.05, 0.1), (0.018, 0.018, 0.018), "black"),
    ),
    _object(
        "teddy", "box", (0.11, 0.15, 0.19), "animal toy",
        ellipsoid((0, 0, -0.06), (0.09, 0.1, 0.11)), ellipsoid((0.01, 0, 0.09), (0.085, 0.095, 0.085)),
        ellipsoid((0, 0.085, 0.155), (0.035, 0.045, 0.045)), ellipsoid((0, -0.085, 0.155), (0.035, 0.045, 0.045)),
        ellipsoid((0.085, 0, 0.07), (0.035, 0.045, 0.035), "light"),
        ellipsoid((0.07, 0, -0.06), (0.035, 0.06, 0.07), "light"),
        ellipsoid((0.12, 0, 0.085), (0.014, 0.02, 0.014), "black"),
        ellipsoid((0.085, 0.04, 0.125), (0.014, 0.016, 0.018), "black"),
        ellipsoid((0.085, -0.04, 0.125), (0.014, 0.016, 0.018), "black"),
        ellipsoid((0.02, 0.125, -0.03), (0.04, 0.04, 0.06)), ellipsoid((0.02, -0.125, -0.03), (0.04, 0.04, 0.06)),
        ellipsoid((0.06, 0.09, -0.14), (0.06, 0.05, 0.05), "dark"),
        ellipsoid((0.06, -0.09, -0.14), (0.06, 0.05, 0.05), "dark"),
    ),
    _object(
        "robot", "box", (0.09, 0.14, 0.2), "rectangular toy",
        box((0, 0, -0.03), (0.08, 0.1, 0.08)), box((0.08, 0, -0.03), (0.006, 0.06, 0.04), "trim"),
        box((0, 0, 0.105), (0.07, 0.085, 0.05), "grey"), box((0.07, 0.035, 0.115), (0.006, 0.022, 0.02), "yellow"),
        box((0.07, -0.035, 0.115), (0.006, 0.022, 0.02), "yellow"), box((0.07, 0, 0.075), (0.006, 0.04, 0.01), "black"),
        box((0, 0.125, -0.02), (0.03, 0.02, 0.08), "grey"), box((0, -0.125, -0.02), (0.03, 0.02, 0.08), "grey"),
        box((0, 0.05, -0.155), (0.06, 0.035, 0.045), "dark"), box((0, -0.05, -0.155), (0.06, 0.035, 0.045), "dark"),
        cylinder((0, 0, 0.175), 0.012, 0.025, "grey"), ellipsoid((0, 0, 0.195), (0.022, 0.022, 0.022)),
    ),
    _object(
        "car", "box", (0.2, 0.11, 0.1), "vehicle toy",
        box((0, 0, -0.02), (0.2, 0.1, 0.045)), box((-0.02, 0, 0.045), (0.11, 0.088, 0.03), "black"),
        box((-0.02, 0, 0.085), (0.09, 0.085, 0.015)), box((0.2, 0.06, -0.01), (0.006, 0.022, 0.018), "white"),
        box((0.2, -0.06, -0.01), (0.006, 0.022, 0.018), "white"), *_wheels(0.12, 0.1, -0.055, 0.045),
    ),
    _object(
        "bus", "box", (0.24, 0.1, 0.14), "rectangular vehicle long toy",
        box((0, 0, 0.02), (0.24, 0.09, 0.11)), box((-0.01, 0, 0.065), (0.22, 0.092, 0.035), "trim"),
        *(box((x, 0, 0.065), (0.012, 0.093, 0.035)) for x in (-0.12, 0.0, 0.12)),
        box((0.238, 0, 0.06), (0.005, 0.075, 0.045), "trim"), box((-0.238, 0, 0.06), (0.005, 0.07, 0.035), "trim"),
        *_wheels(0.15, 0.09, -0.095, 0.045),
    ),
    _object(
        "train", "box", (0.24, 0.1, 0.15), "vehicle long toy",
        cylinder((0.06, 0, -0.005), 0.075, 0.15, "main", "x"), cylinder((0.21, 0, -0.005), 0.06, 0.01, "grey", "x"),
        box((-0.14, 0, 0.01), (0.08, 0.09, 0.1), "dark"), box((-0.14, 0, 0.125), (0.1, 0.1, 0.018)),
        box((-0.14, 0, 0.06), (0.05, 0.092, 0.03), "trim"), cylinder((0.14, 0, 0.09), 0.025, 0.05, "black"),
        cylinder((0.14, 0, 0.135), 0.04, 0.012, "black"), box((0.0, 0, -0.09), (0.22, 0.07, 0.02), "grey"),
        *_wheels(0.05, 0.085, -0.1, 0.05), *_wheels(0.16, 0.085, -0.1, 0.05),
    ),
    _object(
        "rocket", "cylinder", (0.11, 0.11, 0.24), "pointy flies vehicle toy",
        cylinder((0, 0, -0.02), 0.075, 0.14, "trim"), cone((0, 0, 0.18), 0.08, 0.06),
        box((0, 0, -0.15), (0.15, 0.012, 0.07)), box((0, 0, -0.15), (0.012, 0.15, 0.07)),
        cylinder((0, 0, 0.03), 0.08, 0.03),
    ),
    _object(
        "airplane", "box", (0.22, 0.22, 0.09), "flies vehicle toy",
        ellipsoid((-0.01, 0, -0.02), (0.21, 0.055, 0.055)), box((0.03, 0, -0.01), (0.065, 0.16, 0.013)),
        box((0.03, 0.19, -0.01), (0.065, 0.03, 0.013), "trim"),
        box((0.03, -0.19, -0.01), (0.065, 0.03, 0.013), "trim"),
        box((-0.18, 0, 0.0), (0.035, 0.1, 0.011)), box((-0.18, 0, 0.045), (0.035, 0.012, 0.045)),
        ellipsoid((0.08, 0, 0.02), (0.05, 0.035, 0.03), "black"), box((0.21, 0, -0.02), (0.006, 0.012, 0.07), "grey"),
    ),
    _object(
        "boat", "box", (0.22, 0.1, 0.18), "swims pointy vehicle toy",
        box((-0.05, 0, -0.13), (0.14, 0.085, 0.05)), cone((0.155, 0, -0.12), 0.075, 0.065, "main", "x"),
        box((-0.05, 0, -0.085), (0.14, 0.07, 0.015), "wood"), cylinder((0.0, 0, 0.03), 0.014, 0.12, "wood"),
        cone((0.0, 0, 0.06), 0.1, 0.11, "trim"), box((0.03, 0, 0.165), (0.035, 0.006, 0.016)),
    ),
    _object(
        "banana", "box", (0.2, 0.09, 0.05), "eatable long",
        ellipsoid((0, 0.03, 0), (0.1, 0.05, 0.05)), ellipsoid((0.1, -0.005, 0), (0.09, 0.042, 0.042), yaw=-35.0),
        ellipsoid((-0.1, -0.005, 0), (0.09, 0.042, 0.042), yaw=35.0),
        box((0.17, -0.055, 0), (0.025, 0.02, 0.02), "black"),
        ellipsoid((-0.17, -0.05, 0), (0.022, 0.022, 0.022), "black"),
    ),
    _object(
        "lemon", "sphere", (0.1, 0.1, 0.1), "eatable round",
        ellipsoid((0, 0, 0), (0.105, 0.09, 0.09)), cone((0.12, 0, 0), 0.05, 0.04, "main", "x"),
        cone((-0.12, 0, 0), 0.05, 0.04, "main", "-x"),
        ellipsoid((0.03, 0.03, 0.1), (0.075, 0.035, 0.016), "leaf", 30.0),
        ellipsoid((-0.05, -0.02, 0.095), (0.05, 0.03, 0.014), "leaf", -40.0),
    ),
    _object(
        "grapes", "box", (0.11, 0.11, 0.13), "eatable round",
        *(ellipsoid((x, y, 0.03), (0.055, 0.055, 0.055)) for x in (-0.055, 0.055) for y in (-0.055, 0.055)),
        ellipsoid((0.035, 0.03, -0.04), (0.055, 0.055, 0.055), "dark"),
        ellipsoid((-0.045, -0.03, -0.04), (0.055, 0.055, 0.055), "dark"),
        ellipsoid((0, 0, -0.08), (0.05, 0.05, 0.05)), cylinder((0, 0, 0.1), 0.016, 0.03, "brown"),
        ellipsoid((0.05, 0.0, 0.09), (0.065, 0.05, 0.018), "leaf"),
    ),
    _object(
        "pear", "cylinder", (0.11, 0.11, 0.16), "eatable",
        ellipsoid((0, 0, -0.065), (0.11, 0.11, 0.095)), cone((0, 0, 0.045), 0.09, 0.09),
        ellipsoid((0, 0, 0.06), (0.05, 0.05, 0.06)), cylinder((0, 0, 0.135), 0.016, 0.03, "brown"),
        ellipsoid((0.05, 0, 0.145), (0.06, 0.035, 0.016), "leaf"),
    ),
    _object(
        "plant", "cylinder", (0.13, 0.13, 0.24), "watered",
        cylinder((0, 0, -0.15), 0.1, 0.09), cylinder((0, 0, -0.06), 0.13, 0.03),
        cylinder((0, 0, -0.03), 0.11, 0.004, "brown"),
        ellipsoid((0, 0, 0.06), (0.07, 0.07, 0.1), "leaf"), ellipsoid((0.05, 0.05, 0.11), (0.06, 0.06, 0.09), "leaf"),
        ellipsoid((-0.06, 0.03, 0.12), (0.06, 0.06, 0.1), "leaf"),
        ellipsoid((0.01, -0.07, 0.09), (0.06, 0.06, 0.09), "leaf"),
        cone((0, 0, 0.19), 0.05, 0.05, "leaf"),
    ),
    _object(
        "mirror", "box", (0.06, 0.15, 0.21), "rectangular",
        box((0, 0, 0.02), (0.02, 0.15, 0.19)), box((0.02, 0, 0.02), (0.003, 0.11, 0.15), "glass"),
        box((0.0205, 0.03, 0.07), (0.003, 0.012, 0.08), "trim"), box((0.0205, 0.0, 0.04), (0.003, 0.012, 0.08), "trim"),
        box((0, 0, -0.19), (0.06, 0.12, 0.02), "dark"),
    ),
    _object(
        "drier", "box", (0.17, 0.06, 0.15), "dries",
        cylinder((-0.04, 0, 0.08), 0.065, 0.1, "main", "x"), ellipsoid((-0.13, 0, 0.08), (0.04, 0.068, 0.068), "dark"),
        cylinder((0.08, 0, 0.08), 0.045, 0.03, "grey", "x"), cone((0.13, 0, 0.08), 0.065, 0.035, "black", "-x"),
        box((-0.05, 0, -0.06), (0.035, 0.03, 0.09), "dark"), box((-0.013, 0, -0.02), (0.006, 0.015, 0.025), "trim"),
    ),
    _object(
        "picture", "box", (0.05, 0.2, 0.16), "rectangular",
        box((0, 0, 0), (0.018, 0.2, 0.16)), box((0.018, 0, 0), (0.003, 0.16, 0.12), "trim"),
        ellipsoid((0.02, 0.04, 0.02), (0.005, 0.06, 0.06), "orange"),
        box((0.021, 0, -0.08), (0.003, 0.16, 0.04), "green"),
        box((0, 0, -0.15), (0.05, 0.1, 0.01), "dark"),
    ),
    _object(
        "shoe", "box", (0.18, 0.08, 0.1), "",
        box((0, 0, -0.085), (0.18, 0.08, 0.015), "trim"), ellipsoid((0.07, 0, -0.035), (0.11, 0.075, 0.055)),
        box((-0.09, 0, 0.0), (0.08, 0.07, 0.075)), cylinder((-0.09, 0, 0.085), 0.06, 0.015, "trim"),
        cylinder((-0.09, 0, 0.09), 0.045, 0.012, "black"), box((0.02, 0, 0.02), (0.02, 0.045, 0.008), "trim"),
        box((0.06, 0, 0.015), (0.015, 0.045, 0.008), "trim"),
    ),
    _object(
        "guitar", "box", (0.26, 0.12, 0.05), "music long",
        cylinder((-0.14, 0, 0), 0.12, 0.045), cylinder((-0.02, 0, 0), 0.09, 0.045),
        cylinder((-0.06, 0, 0.046), 0.045, 0.002, "black"), box((0.12, 0, 0.02), (0.1, 0.02, 0.02), "brown"),
        box((0.23, 0, 0.02), (0.03, 0.035, 0.02), "black"), box((0.03, 0, 0.048), (0.17, 0.004, 0.002), "white"),
        box((-0.17, 0, 0.05), (0.012, 0.05, 0.006), "black"),
    ),
    _object(
        "lantern", "cylinder", (0.11, 0.11, 0.19), "round light",
        cylinder((0, 0, -0.165), 0.11, 0.025), cylinder((0, 0, -0.04), 0.08, 0.1, "glow"),
        cone((0, 0, 0.105), 0.12, 0.045), cylinder((0, 0, 0.165), 0.03, 0.02, "black"),
        *(cylinder((x, y, -0.04), 0.014, 0.1) for x in (-0.06, 0.06) for y in (-0.06, 0.06)),
    ),
    Category("mini chair", False, _MINI, "composite", _chair(_MINI),
             (box((0, 0, -0.1), (0.15, 0.15, 0.12)), box((-0.13, 0, 0.12), (0.02, 0.15, 0.1))), frozenset({"sits"})),
)  # fmt: skip
