"""Where the studio of a run is reached: a file that the web process writes while it serves."""

from __future__ import annotations

from pathlib import Path

from interplay.core.files import write_whole

FILE = "address.txt"


def write_address(folder: Path, origin: str) -> None:
    """Notes the address in the studio's folder."""
    write_whole(folder / FILE, f"{origin}\n", durable=False)


def studio_address(root: Path) -> str:
    """The address of the studio that serves the run in `root`, or did so last.

    Raises:
        ValueError: no studio has served this run.
    """
    file = root / "studio" / FILE
    if not file.exists():
        raise ValueError(f"no studio serves {root}; type in another terminal: interplay studio run.name={root.name}")
    return file.read_text().strip()
