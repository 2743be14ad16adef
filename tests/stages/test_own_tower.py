"""An image tower of another package: agent.image_tower=MODULE:CLASS."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tiny_runs import interplay, refused, tiny

from interplay.agent.image_tower import make_tower
from interplay.agent.sizes import AgentConfig
from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose
from interplay.learner import checkpoint

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"^```python\n(import torch\n.*?class Patches.*?)^```", re.DOTALL | re.MULTILINE)

FAULTY = """
class Unfinished(Patches):
    def __init__(self, config, image, text_width):
        ImageTower.__init__(self)


class Missing(Patches):
    def __init__(self, config, image, text_width):
        raise FileNotFoundError("pretrained.pt")


class Narrow(Patches):
    def forward(self, image, text, plain=True):
        grid, pooled = super().forward(image, text, plain)
        return TowerOutput(grid[:, :, :1], pooled)


class Unpooled(Patches):
    def forward(self, image, text, plain=True):
        return TowerOutput(super().forward(image, text, plain).grid, None)


class Listed(Patches):
    def forward(self, image, text, plain=True):
        return TowerOutput(super().forward(image, text, plain).grid.tolist(), None)


class Tuple(Patches):
    def forward(self, image, text, plain=True):
        return super().forward(image, text, plain).grid, None


class Failing(Patches):
    def forward(self, image, text, plain=True):
        return TowerOutput(self.patches(image), None)


class Half(Patches):
    def forward(self, image, text, plain=True):
        grid, pooled = super().forward(image, text, plain)
        return TowerOutput(grid.half(), pooled)


class Normalized(Patches):
    def forward(self, image, text, plain=True):
        grid, pooled = super().forward(image, text, plain)
        return TowerOutput(grid / 0, pooled)


class Batched(Patches):
    def __init__(self, config, image, text_width):
        super().__init__(config, image, text_width)
        self.features = nn.Sequential(self.features, nn.BatchNorm2d(self.channels))


class Frozen(Batched):
    def train(self, mode=True):
        super().train(mode)
        self.features[1].eval()
        return self


class Dropping(Patches):
    def __init__(self, config, image, text_width):
        super().__init__(config, image, text_width)
        self.features = nn.Sequential(self.features, nn.Dropout(0.2))


class NoTower(nn.Module):
    pass
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (example,) = EXAMPLE.findall((DOCS / "extending.md").read_text())
    (folder / "my_towers.py").write_text(example + FAULTY)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "my_towers", raising=False)
    return folder


@pytest.mark.slow
def test_an_agent_with_the_tower_of_the_documentation_goes_through_all_stages(package: Path, tmp_path: Path) -> None:
    interplay("demo", tiny(tmp_path, "agent.image_tower=my_towers:Patches"))
    found = [checkpoint.latest(tmp_path / "run" / stage / "checkpoints") for stage in ("reward", "reinforce")]
    start, end = (each.weights() for each in found if each is not None)
    frozen, trained = (f"encoder.tower.{layer}.weight" for layer in ("patches", "features"))
    assert (start[frozen] == end[frozen]).all() and (start[trained] != end[trained]).any()
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize(
    ("tower", "problem"),
    [
        ("no_such_module:Patches", "can't be created: ModuleNotFoundError: No module named 'no_such_module'"),
        ("my_towers:NoTower", "my_towers has no subclass NoTower of interplay.agent.image_tower.ImageTower"),
        ("my_towers:Missing", "can't be created: FileNotFoundError: pretrained.pt"),
        (
            "my_towers:Unfinished",
            "its attribute channels must be an int of at least 1 once it has been created, got None",
        ),
        ("my_towers:Narrow", "[2, 64, h, w] with h * w = 6, by its channels and cells, got [2, 64, 1, 3]"),
        ("my_towers:Unpooled", "plain of two images must be [2, 128], twice its channels, got None"),
        ("my_towers:Listed", "the grid must be a tensor, got list"),
        ("my_towers:Tuple", "forward returns a TowerOutput, got tuple"),
        ("my_towers:Failing", "fails on [2, 16, 24, 3], two images of noise: RuntimeError("),
        ("my_towers:Half", "grid must be float32, got torch.float16; convert it, as by grid.float()"),
        ("my_towers:Normalized", "grid of two images of noise has NaN or infinity"),
        ("my_towers:Batched", "grid of an image differs alone and in a batch of two"),
        ("my_towers:Dropping", "keep such layers in evaluation mode in the tower's `train`"),
    ],
)
def test_a_tower_that_cannot_be_used_is_refused_before_anything_is_recorded(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], tower: str, problem: str
) -> None:
    said = refused("demo", tiny(tmp_path, f"agent.image_tower={tower}"), capsys)
    assert f"agent.image_tower={tower}" in said and problem in said
    assert not (tmp_path / "run").exists()


def test_a_tower_with_batch_normalization_in_evaluation_mode_is_accepted(package: Path) -> None:
    config = AgentConfig(image_tower="my_towers:Frozen")
    tower = make_tower(config, (16, 24, 3), None)
    assert tower.training and not tower.features[1].training  # type: ignore[index, union-attr]


def test_another_form_of_name_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"agent.image_tower=resnet: MODULE:CLASS for an ImageTower of your own"):
        compose(["agent.image_tower=resnet"])
