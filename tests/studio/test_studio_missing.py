"""Commands that need a studio name the one to start, where the run is not in the usual folder too."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.studio.exports.export_tables import export
from interplay.studio.web.server import studio_address


def test_a_run_without_a_studio_is_told_the_whole_command(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    typed = f"type .*: interplay studio run.name=mine run.dir={tmp_path}"
    with pytest.raises(ValueError, match=typed):
        studio_address(root)
    with pytest.raises(ValueError, match=typed):
        export(root, tmp_path, rate=1.0, form="csv", identities=False)
