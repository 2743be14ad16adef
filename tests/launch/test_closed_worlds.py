"""Commands close the worlds that they make, also where they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_runs import interplay, refused, tiny

from interplay.env import registry
from interplay.env.world import World


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> dict[World, int]:
    """The worlds that were made, and how often each has been closed."""
    make, counts = registry.make, dict[World, int]()

    def counted(name: str, **settings: Any) -> World:
        world = make(name, **settings)
        close, counts[world] = world.close, 0

        def counted_close() -> None:
            counts[world] += 1
            close()

        monkeypatch.setattr(world, "close", counted_close)
        return world

    monkeypatch.setattr(registry, "make", counted)
    return counts


@pytest.mark.slow
def test_every_world_of_a_round_is_closed_once(tmp_path: Path, worlds: dict[World, int]) -> None:
    mirrored = ("clone.dataset.mirror=0.5", "evaluate.kinds=[go]")
    interplay("demo", tiny(tmp_path, *mirrored))
    assert len(worlds) > 20 and set(worlds.values()) == {1}
    worlds.clear()
    for verb in ("clone-setter", "continue", "score", "inspect-reward", "look", "replay"):
        episode = next((tmp_path / "run/store/episodes").glob("*/*.npz")).stem
        interplay(verb, [*([episode] if verb == "replay" else []), *tiny(tmp_path, *mirrored)])
        assert worlds and set(worlds.values()) == {1}, verb
        worlds.clear()


def test_a_command_that_fails_closes_its_worlds(
    tmp_path: Path, worlds: dict[World, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "type env=commai" in refused("play", tiny(tmp_path), capsys)
    assert "no agent" in refused("evaluate", tiny(tmp_path, "evaluate.agents={}"), capsys)
    assert worlds and set(worlds.values()) == {1}
