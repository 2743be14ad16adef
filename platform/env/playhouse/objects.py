"""The loose objects: toy-like, 15 to 40 cm, each told from the others by its outline."""

from __future__ import annotations

from interplay.env.playhouse.category import XYZ, Category, Part, box, cone, cylinder, ellipsoid

WALL = 0.02  # half thickness of a bin's walls, metres; thinner ones let fast objects through


def _proxy(shape: str, half: XYZ) -> Part:
    primitive = "ellipsoid" if shape == "sphere" else shape
    return Part(primitive, (0.0, 0.0, 0.0), half)


def _object(name: str, shape: str, half: XYZ, attributes: str, *parts: Part) -> Category:
    """An object whose physics is one proxy that fills its bounding box."""
    return Category(name, False, half, shape, parts, (_proxy(shape, half),), frozenset(attributes.split()))


def _open_box(half: XYZ) -> tuple[Part, ...]:
    """A floor and four walls."""
    x, y, z = half
    return (
        box((0, 0, WALL - z), (x, y, WALL), "dark"),
        box((x - WALL, 0, WALL), (WALL, y, z - WALL)),
        box((WALL - x, 0, WALL), (WALL, y, z - WALL)),
        box((0, y - WALL, WALL), (x - 2 * WALL, WALL, z - WALL)),
        box((0, WALL - y, WALL), (x - 2 * WALL, WALL, z - WALL)),
    )


def _wheels(x: float, y: float, z: float, radius: float) -> tuple[Part, ...]:
    return tuple(cylinder((sx * x, sy * y, z), radius, 0.02, "black", "y") for sx in (-1, 1) for sy in (-1, 1))


_BIN: XYZ = (0.2, 0.2, 0.16)

OBJECTS: tuple[Category, ...] = (
    _object("ball", "sphere", (0.14, 0.14, 0.14), "round", ellipsoid((0, 0, 0), (0.14, 0.14, 0.14))),
    _object("block", "box", (0.12, 0.12, 0.12), "rectangular", box((0, 0, 0), (0.12, 0.12, 0.12))),
    _object(
        "book", "box", (0.12, 0.16, 0.04), "rectangular",
        box((0, 0, 0.034), (0.12, 0.16, 0.006)), box((0, 0, -0.034), (0.12, 0.16, 0.006)),
        box((-0.114, 0, 0), (0.006, 0.16, 0.03)), box((0, 0, 0), (0.11, 0.15, 0.028), "white"),
    ),
    Category("bin", False, _BIN, "composite", _open_box(_BIN), _open_box(_BIN), frozenset({"container"})),
    _object(
        "box", "box", (0.18, 0.14, 0.13), "rectangular",
        box((0, 0, -0.025), (0.17, 0.13, 0.105)), box((0, 0, 0.105), (0.18, 0.14, 0.025), "dark"),
        box((0, 0, 0), (0.03, 0.141, 0.131), "light"),
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
        cylinder((0, 0, 0.205), 0.045, 0.015, "white"),
    ),
    _object(
        "candle", "cylinder", (0.08, 0.08, 0.2), "round",
        cylinder((0, 0, -0.06), 0.07, 0.14), cylinder((0, 0, -0.19), 0.08, 0.01, "grey"),
        cone((0, 0, 0.15), 0.035, 0.05, "orange"),
    ),
    _object(
        "roll", "cylinder", (0.11, 0.11, 0.11), "round",
        cylinder((0, 0, 0), 0.11, 0.11), cylinder((0, 0, 0), 0.045, 0.112, "brown"),
    ),
    _object(
        "soap", "box", (0.14, 0.09, 0.05), "",
        ellipsoid((0, 0, 0), (0.14, 0.09, 0.05)), ellipsoid((0, 0, 0.02), (0.07, 0.05, 0.035), "light"),
    ),
    _object(
        "pillow", "box", (0.15, 0.2, 0.07), "rectangular",
        ellipsoid((0, 0, 0), (0.14, 0.19, 0.07)), box((0, 0, 0), (0.15, 0.2, 0.025)),
    ),
    _object(
        "drum", "cylinder", (0.16, 0.16, 0.13), "round music",
        cylinder((0, 0, 0), 0.15, 0.12), cylinder((0, 0, 0.12), 0.16, 0.012, "white"),
        cylinder((0, 0, -0.12), 0.16, 0.012, "white"), cylinder((0, 0, 0), 0.152, 0.02, "light"),
    ),
    _object(
        "duck", "box", (0.17, 0.11, 0.16), "swims",
        ellipsoid((-0.02, 0, -0.06), (0.15, 0.11, 0.1)), ellipsoid((0.07, 0, 0.07), (0.08, 0.08, 0.08)),
        cone((0.15, 0, 0.06), 0.04, 0.04, "orange", "x"), cone((-0.15, 0, 0.0), 0.06, 0.05, "dark", "-x"),
        ellipsoid((0.12, 0.05, 0.1), (0.018, 0.018, 0.018), "black"),
        ellipsoid((0.12, -0.05, 0.1), (0.018, 0.018, 0.018), "black"),
    ),
    _object(
        "teddy", "box", (0.11, 0.15, 0.19), "",
        ellipsoid((0, 0, -0.06), (0.1, 0.1, 0.12)), ellipsoid((0.01, 0, 0.1), (0.085, 0.09, 0.085)),
        ellipsoid((0, 0.07, 0.17), (0.03, 0.035, 0.035)), ellipsoid((0, -0.07, 0.17), (0.03, 0.035, 0.035)),
        ellipsoid((0.09, 0, 0.085), (0.03, 0.04, 0.03), "light"),
        ellipsoid((0.06, 0.1, -0.14), (0.06, 0.05, 0.05), "dark"),
        ellipsoid((0.06, -0.1, -0.14), (0.06, 0.05, 0.05), "dark"),
    ),
    _object(
        "robot", "box", (0.09, 0.14, 0.2), "rectangular",
        box((0, 0, -0.03), (0.08, 0.1, 0.09)), box((0, 0, 0.1), (0.06, 0.07, 0.045), "light"),
        box((0.06, 0, 0.11), (0.006, 0.05, 0.015), "black"), box((0, 0.125, -0.02), (0.03, 0.02, 0.07), "grey"),
        box((0, -0.125, -0.02), (0.03, 0.02, 0.07), "grey"), box((0, 0.05, -0.16), (0.05, 0.03, 0.04), "dark"),
        box((0, -0.05, -0.16), (0.05, 0.03, 0.04), "dark"), cone((0, 0, 0.17), 0.02, 0.03, "grey"),
    ),
    _object(
        "car", "box", (0.2, 0.11, 0.1), "",
        box((0, 0, -0.02), (0.2, 0.1, 0.045)), box((-0.02, 0, 0.055), (0.1, 0.085, 0.035), "light"),
        *_wheels(0.12, 0.1, -0.055, 0.045),
    ),
    _object(
        "bus", "box", (0.24, 0.1, 0.14), "rectangular",
        box((0, 0, 0.02), (0.24, 0.09, 0.11)), box((0, 0, 0.06), (0.2, 0.092, 0.035), "white"),
        box((0.238, 0, 0.06), (0.005, 0.07, 0.035), "white"), *_wheels(0.15, 0.09, -0.095, 0.045),
    ),
    _object(
        "train", "box", (0.24, 0.1, 0.15), "",
        cylinder((0.06, 0, 0), 0.08, 0.14, "main", "x"), box((-0.14, 0, 0.02), (0.09, 0.095, 0.13), "dark"),
        cylinder((0.14, 0, 0.1), 0.03, 0.05, "black"), box((0.02, 0, -0.08), (0.2, 0.08, 0.025), "grey"),
        *_wheels(0.13, 0.09, -0.1, 0.05),
    ),
    _object(
        "rocket", "cylinder", (0.11, 0.11, 0.24), "pointy flies",
        cylinder((0, 0, -0.02), 0.075, 0.14, "white"), cone((0, 0, 0.18), 0.08, 0.06),
        box((0, 0, -0.15), (0.15, 0.012, 0.07)), box((0, 0, -0.15), (0.012, 0.15, 0.07)),
        cylinder((0, 0, 0.03), 0.08, 0.03),
    ),
    _object(
        "airplane", "box", (0.22, 0.22, 0.09), "flies",
        ellipsoid((0, 0, -0.02), (0.22, 0.055, 0.06)), box((0.02, 0, -0.01), (0.06, 0.22, 0.012), "dark"),
        box((-0.17, 0, 0.0), (0.03, 0.09, 0.01), "dark"), box((-0.18, 0, 0.04), (0.03, 0.01, 0.05), "dark"),
        ellipsoid((0.1, 0, 0.02), (0.05, 0.035, 0.035), "white"),
    ),
    _object(
        "boat", "box", (0.22, 0.1, 0.18), "swims pointy",
        box((-0.04, 0, -0.12), (0.14, 0.09, 0.05)), cone((0.16, 0, -0.11), 0.065, 0.06, "main", "x"),
        cylinder((0, 0, 0.04), 0.012, 0.13, "brown"), box((-0.06, 0, 0.07), (0.06, 0.006, 0.09), "white"),
        box((-0.04, 0, -0.068), (0.1, 0.06, 0.003), "brown"),
    ),
    _object(
        "banana", "box", (0.2, 0.09, 0.05), "eatable",
        ellipsoid((0, 0.035, 0), (0.1, 0.05, 0.05)), ellipsoid((0.1, 0.0, 0), (0.09, 0.042, 0.042), yaw=-35.0),
        ellipsoid((-0.1, 0.0, 0), (0.09, 0.042, 0.042), yaw=35.0), box((0.17, -0.05, 0), (0.02, 0.015, 0.015), "black"),
    ),
    _object(
        "lemon", "sphere", (0.1, 0.1, 0.1), "eatable round",
        ellipsoid((0, 0, 0), (0.1, 0.1, 0.1)), cone((0.11, 0, 0), 0.045, 0.04, "main", "x"),
        cone((-0.11, 0, 0), 0.045, 0.04, "main", "-x"),
    ),
    _object(
        "grapes", "box", (0.11, 0.11, 0.13), "eatable round",
        *(ellipsoid((x, y, 0.06), (0.055, 0.055, 0.055)) for x in (-0.055, 0.055) for y in (-0.055, 0.055)),
        ellipsoid((0.03, 0.03, -0.03), (0.055, 0.055, 0.055), "dark"),
        ellipsoid((-0.04, -0.03, -0.03), (0.055, 0.055, 0.055), "dark"),
        ellipsoid((0, 0, -0.08), (0.05, 0.05, 0.05)), cylinder((0, 0, 0.12), 0.012, 0.03, "green"),
    ),
    _object(
        "pear", "cylinder", (0.11, 0.11, 0.16), "eatable",
        ellipsoid((0, 0, -0.06), (0.11, 0.11, 0.1)), ellipsoid((0, 0, 0.05), (0.065, 0.065, 0.085)),
        cylinder((0, 0, 0.145), 0.012, 0.025, "brown"), ellipsoid((0.035, 0, 0.15), (0.035, 0.02, 0.01), "green"),
    ),
    _object(
        "plant", "cylinder", (0.13, 0.13, 0.24), "",
        cylinder((0, 0, -0.14), 0.11, 0.1), cylinder((0, 0, -0.05), 0.13, 0.025, "dark"),
        ellipsoid((0, 0, 0.09), (0.12, 0.12, 0.12), "green"), cone((0, 0, 0.19), 0.06, 0.06, "green"),
    ),
    _object(
        "mirror", "box", (0.06, 0.15, 0.21), "rectangular",
        box((0, 0, 0.02), (0.02, 0.15, 0.19)), box((0.02, 0, 0.02), (0.003, 0.11, 0.15), "grey"),
        box((0, 0, -0.19), (0.06, 0.12, 0.02), "dark"),
    ),
    _object(
        "drier", "box", (0.17, 0.06, 0.15), "",
        cylinder((-0.04, 0, 0.08), 0.06, 0.13, "main", "x"), cone((0.125, 0, 0.08), 0.06, 0.045, "black", "-x"),
        box((-0.05, 0, -0.06), (0.035, 0.03, 0.09), "dark"),
    ),
    _object(
        "picture", "box", (0.05, 0.2, 0.16), "rectangular",
        box((0, 0, 0), (0.018, 0.2, 0.16)), box((0.018, 0, 0), (0.003, 0.16, 0.12), "white"),
        ellipsoid((0.02, 0.04, 0.02), (0.005, 0.06, 0.06), "orange"),
        box((0.021, 0, -0.08), (0.003, 0.16, 0.04), "green"),
        box((0, 0, -0.15), (0.05, 0.1, 0.01), "dark"),
    ),
)  # fmt: skip
