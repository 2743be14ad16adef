"""The command starts without what most verbs do not need, and finds every verb's function."""

from __future__ import annotations

import subprocess
import sys

from interplay.launch.verbs import VERBS

HEAVY = ("fastapi", "matplotlib", "mujoco", "numba", "PIL", "ray", "wandb")


def test_the_command_starts_without_libraries_of_single_verbs() -> None:
    code = f"import sys, interplay.launch.cli; print([name for name in {HEAVY} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_settings_are_composed_without_the_libraries_of_the_playhouse() -> None:
    code = "import sys; from interplay.launch.compose import compose; compose([]); "
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_every_verb_is_found() -> None:
    assert all(callable(verb.load()) for verb in VERBS.values())
