"""Shared configuration: property tests without deadlines, and fixtures of runs to start from."""

from __future__ import annotations

import gc
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import cache, lru_cache
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from process_state import keeps_process_state

NO_BROWSER = "no chromium here (apt-get install chromium)"

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session", autouse=True)
def _default_sighup() -> None:
    """Restores SIGHUP for tests that run under nohup, which makes every child process ignore it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _keeps_process_state() -> Iterator[None]:
    """Fails a test that changes its process for the tests after it."""
    with keeps_process_state():
        yield


@pytest.fixture(scope="session", autouse=True)
def _composed_once() -> Iterator[None]:
    """Keeps what Hydra composes of the groups in conf/: most tests type the same, and each composition takes a tenth
    of a second. Hydra's own function then applies the values; all are translated, checked and validated as ever."""
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from interplay.launch import compose

    made = compose.hydra_compose
    kept = lru_cache(128)(lambda name, groups: made(name, overrides=list(groups)))

    def composed(name: str, overrides: list[str]) -> Any:
        values = [word for word in overrides if word.startswith("++") and not word.startswith("++hydra.")]
        groups = [word for word in overrides if word not in values]
        parsed = OverridesParser.create().parse_overrides(values)
        if not all(word[0].isalpha() for word in groups) or any(value.is_sweep_override() for value in parsed):
            return made(name, overrides=overrides)  # their order matters, or Hydra refuses them
        config = deepcopy(kept(name, tuple(groups)))
        ConfigLoaderImpl._apply_overrides_to_config(parsed, config)
        return config

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "hydra_compose", composed)
        yield


@pytest.fixture(scope="session", autouse=True)
def _drawn_once() -> Iterator[None]:
    """Keeps the figures of reports by what they show: reports of copies of one run mostly show the same. Each figure
    takes a seventh of a second, and a report has up to thirty."""
    from interplay.evaluation import figures

    drawn: dict[bytes, figures.SvgFigure] = {}

    def keeping(draw: Callable[..., figures.SvgFigure]) -> Callable[..., figures.SvgFigure]:
        def draw_once(*arguments: Any, **named: Any) -> figures.SvgFigure:
            shown = pickle.dumps((draw.__name__, arguments, named))
            if shown not in drawn:
                drawn[shown] = draw(*arguments, **named)
            return drawn[shown]

        return draw_once

    with pytest.MonkeyPatch.context() as patch:
        for name, draw in list(vars(figures).items()):
            if isfunction(draw) and draw.__annotations__.get("return") == "SvgFigure":
                patch.setattr(figures, name, keeping(draw))
        yield


@pytest.fixture(scope="session")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run up to its clone, to be copied."""
    from tiny_runs import interplay, tiny  # not at the top: the controller of pytest-xdist needs no torch

    root = tmp_path_factory.mktemp("cloned")
    for verb in ("collect", "clone"):
        interplay(verb, tiny(root))
    return root


@pytest.fixture(scope="session")
def rewarded(cloned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run up to its reward model, to be copied."""
    from tiny_runs import copied, interplay, tiny

    root = copied(cloned, tmp_path_factory.mktemp("rewarded"))
    for verb in ("collect-agent", "mark", "reward"):
        interplay(verb, tiny(root))
    return root


@pytest.fixture(scope="session")
def unbroken(rewarded: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Path]:
    """Returns the root of a run whose stage made twelve updates without a break; one for each stage and overlap."""
    from tiny_runs import interplay
    from twelve_updates import twelve, without

    @cache
    def root_of(stage: str, overlap: bool) -> Path:
        root = without(stage, rewarded, tmp_path_factory.mktemp("unbroken"))
        interplay(stage, twelve(root, stage, overlap))
        return root

    return root_of


@pytest.fixture(params=["emulated", "real"])
def gpu(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a GPU; an emulated one, and a real one where there is one."""
    with _device(request.param) as name:
        yield name


@pytest.fixture(params=["cpu", "emulated", "real"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of the CPU, or of a GPU as `gpu`."""
    with _device(request.param) as name:
        yield name


@contextmanager
def _device(kind: str) -> Iterator[str]:
    import torch
    from emulated_gpu import emulated_gpu

    if kind == "real" and not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    with emulated_gpu() if kind == "emulated" else nullcontext():
        yield "cpu" if kind == "cpu" else "cuda"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collects no garbage while the tests are imported, and takes all that was imported out of the reach of the garbage
    collector, which would visit it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str:
    """A line if the tests that need a browser are left out."""
    return "" if shutil.which("chromium") else f"{NO_BROWSER}: the tests marked 'browser' are left out"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Starts with the units that take longest. Leaves out the tests that need a browser where there is
    no Chromium."""
    from worker_units import starts_first

    if not shutil.which("chromium"):
        without = [item for item in items if item.get_closest_marker("browser")]
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]
    items.sort(key=lambda item: not starts_first(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assigns tests to the workers of pytest-xdist by `worker_units.unit_of`.

    The marker `xdist_group` has no effect: pytest-xdist 3.8 appends the group to an id that pytest 9.2 does not read.
    """
    from worker_units import unit_of
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    return ByUnit(config, log)
