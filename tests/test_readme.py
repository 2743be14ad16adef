"""What the README, the pages of docs/ and the headers of shipped files tell people to type can be typed: verbs and
settings exist, quick ones run."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from tiny_runs import recorded, tiny

from interplay.launch.cli import configured, main
from interplay.launch.compose import RECORDED
from interplay.launch.sweep import combinations
from interplay.launch.verbs import VERBS
from interplay.stages.stage_folder import StageFolder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CLUSTER = ROOT / "launch" / "cluster"
HEADERS = sorted([*CLUSTER.iterdir(), *(ROOT / "conf" / "hydra" / "launcher").iterdir()])
BLOCK = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
VARIABLE = re.compile(r"[A-Z_]+=\S*")
SHIPPED = re.compile(r"\b((?:launch|benchmarks|conf|docs|tests)/[\w./-]*\.\w+)")
JOB = "launch/cluster/slurm.sbatch"  # types what follows it after `interplay`, and adds these:
JOB_ADDS = ("runtime=ray", "runtime.address=10.0.0.1:20007")
QUICK = ("look", "doctor", "print-config", "--help")
NEED_A_GPU = ("71m", "orderings_gpu")  # doctor fails without one
LINK = re.compile(r"\]\(([^)#:]+)\)")


def typed(text: str) -> list[list[str]]:
    """The `interplay` and `make` lines of a page's bash blocks, and inline `interplay VERB`s, as words."""
    lines = [line for block in BLOCK.findall(text) for line in lines_of(block)]
    return ours([*lines, *(shlex.split(inline) for inline in re.findall(r"`((?:interplay|make) [^`\n]+)`", text))])


def headed(text: str) -> list[list[str]]:
    """The lines, of whatever command, that a file's comments show: what is indented there."""
    return lines_of("\n".join(line[4:] for line in text.splitlines() if line.startswith("#   ")))


def lines_of(block: str) -> list[list[str]]:
    """As words, without the environment's variables before the command."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and VARIABLE.fullmatch(words[0]):
            words = words[1:]
        found += [words] if words else []
    return found


def ours(lines: list[list[str]]) -> list[list[str]]:
    """Those of `interplay` and `make`; a line of `sbatch` or `ray exec` counts as what that types."""
    words = [_command(line) for line in lines]
    return [line for line in words if Path(line[0]).name in ("interplay", "make")]


def _command(words: list[str]) -> list[str]:
    if words[0] == "sbatch":
        return ["interplay", *words[words.index(JOB) + 1 :], *JOB_ADDS]
    if words[:2] == ["ray", "exec"]:
        return shlex.split(words[-1].rpartition("&& ")[2])
    return words


COMMANDS = [(page.name, line) for page in PAGES for line in typed(page.read_text())]
COMMANDS += [(file.name, line) for file in HEADERS for line in ours(headed(file.read_text()))]
MAKES = sorted({target for _, line in COMMANDS if line[0] == "make" for target in line[1:] if "=" not in target})
SHOWN = sorted({" ".join(line[1:]) for _, line in COMMANDS if line[0] != "make" and "..." not in line})


def test_the_pages_show_commands() -> None:
    assert {"demo", "test"} <= set(MAKES)
    assert any(line.startswith("print-config") for line in SHOWN)
    assert any(line.startswith("demo") for line in SHOWN)


def test_the_headers_show_commands() -> None:
    names = {name for name, _ in COMMANDS}
    assert {"slurm.sbatch", "ray-cluster.yaml", "laptop.yaml", "slurm.yaml"} <= names


@pytest.mark.parametrize("target", MAKES)
def test_a_target_that_is_shown_exists(target: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("shown", SHOWN)
def test_a_command_that_is_shown_can_be_typed(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verb, *settings = shown.split()
    if RECORDED in settings:
        monkeypatch.chdir(tmp_path)
        recorded([word for word in settings if word != RECORDED])
    if verb == "sweep" and settings:
        verb, *settings = settings
        assert verb in VERBS
        for run in combinations([word for word in settings if not word.startswith("hydra")]):
            configured(verb, run.words)
        settings_of_launcher([word for word in settings if word.startswith("hydra")])
    elif verb not in ("--help", "sweep"):
        assert verb in VERBS
        configured(verb, settings)


def settings_of_launcher(words: list[str]) -> None:
    """Raises where Hydra does not know the launcher, or one of its settings."""
    with initialize_config_module("interplay.conf", version_base="1.3"):
        compose("sweep", overrides=words, return_hydra_config=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    missing = [name for name in SHIPPED.findall(page.read_text()) if not (ROOT / name).exists()]
    assert not missing


def test_the_page_about_clusters_shows_every_file_and_way_there_is() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    shown = [words for name, words in COMMANDS if name == "cluster.md"]
    for file in CLUSTER.iterdir():
        assert f"launch/cluster/{file.name}" in page
        assert all(words in lines_of_page(page) for words in headed(file.read_text()) if words[0] != "mkdir")
    assert {"reinforce", "watch", "sweep", "serve-reward"} <= {words[1] for words in shown}
    assert any(JOB_ADDS[1] in words for words in shown)  # the job of Slurm


def lines_of_page(page: str) -> list[list[str]]:
    return [line for block in BLOCK.findall(page) for line in lines_of(block)]


def test_no_run_of_the_page_about_clusters_is_shown_with_settings_that_it_would_refuse(tmp_path: Path) -> None:
    shown = [words[1:] for name, words in COMMANDS if name == "cluster.md" and words[1] in ("demo", "reinforce")]
    assert len(shown) > 8
    for verb, *settings in shown:
        config = configured(verb, settings)
        actors = config.runtime.actors if config.runtime.kind == "ray" else 1  # with as many it goes on
        asked = {"reinforce": asdict(config.reinforce), "actors": actors}
        StageFolder(tmp_path / config.run.name).begin(asked, lambda: None).claim()


def test_the_readme_names_every_verb() -> None:
    readme = (ROOT / "README.md").read_text()
    assert not [verb for verb in (*VERBS, "sweep") if f"interplay {verb}" not in readme]


@pytest.mark.parametrize(
    "shown", [line for line in SHOWN if line.split()[0] in QUICK and not any(name in line for name in NEED_A_GPU)]
)
def test_a_quick_command_that_is_shown_runs(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*shown.split(), *(tiny(tmp_path, house=("env.image=[16,24]",)) if shown == "look" else [])]) == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_to_what_is_there(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_readme_says_which_python(tmp_path: Path) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["tool"]["ruff"]["target-version"]  # py311
    assert f"Python {wanted[2]}.{wanted[3:]}" in (ROOT / "README.md").read_text()
