"""The verb `export`: what people did at a studio as tables, or recorded episodes as a Minari dataset."""

from __future__ import annotations

import sys
from pathlib import Path

from interplay.core.counted import counted
from interplay.launch.opened_run import existing, refuse_missing
from interplay.launch.served_run import served_run
from interplay.stages.config import Config
from interplay.stages.minari_extra import naming_extra
from interplay.stages.stage_config import MINARI
from interplay.studio.exports import export_tables


def export(config: Config) -> int:
    """Writes what the words after the verb name."""
    return _export_episodes(config) if config.export.minari.dataset else _export_people(config)


def _export_episodes(config: Config) -> int:
    """Writes a Minari dataset. The exit code is 1 if episodes were left out.

    Raises:
        ModuleNotFoundError: Minari is not installed.
        ValueError: there is no such run; see `export_minari`.
    """
    run = existing(config)
    with naming_extra(f"export {MINARI}"):
        from interplay.stages.export_stage import export_minari  # its packages are optional
    table, is_whole = export_minari(run)
    sys.stdout.write(f"{config.export.minari.dataset}, from {run.root}:\n{table}\n")
    return 0 if is_whole else 1


def _export_people(config: Config) -> int:
    """Writes the studio's tables, and lists the recordings that were left out. The exit code is 1 if there are any.

    Raises:
        ValueError: there is no such run, or no studio has served it.
    """
    refuse_missing(config)
    wanted, root = config.export, config.run.root
    folder = Path(wanted.folder) if wanted.folder else root / "studio" / "export"
    rate = served_run(config).rate
    rows, unread = export_tables.export(root, folder, rate=rate, form=wanted.format, identities=wanted.identities)
    lines = [f"  {name}.{wanted.format}: {counted(count, 'row')}\n" for name, count in rows.items()]
    sys.stdout.write(f"Into {folder.resolve()}:\n{''.join(lines)}")
    if not unread:
        return 0
    left_out = "".join(f"  {problem}\n" for problem in unread)
    sys.stderr.write(
        f"{len(unread)} recordings can't be read and were left out, except their marks and assignments:\n{left_out}"
    )
    return 1
