"""Definitions of studies: what is refused and why, and two pages that change the same one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from marking_client import filled
from page_visits import SMALL, entered
from playwright.sync_api import Browser, expect
from seated_agents import save_agent
from small_house import ENV, fill_store
from studio_client import logged_in, open_studio
from studio_process import started
from test_live_protocol import house, researcher
from test_live_session import make_world

from interplay.core.files import fingerprint
from interplay.studio.live.live_client import LiveRefused
from interplay.studio.web.studio_context import StudioContext


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioContext]:
    filled(tmp_path, 1)
    with open_studio(tmp_path) as opened:
        yield opened


def test_a_definition_replaces_only_the_one_it_was_made_from(studio: StudioContext) -> None:
    desk = logged_in(studio, "research")
    (shown,) = [each for each in desk.get("/api/desk/studies").json()["studies"] if each["name"] == "marks"]
    (play,) = [each for each in desk.get("/api/desk/studies").json()["studies"] if each["name"] == "live"]
    typed = {
        name: value for name, value in shown.items() if name not in ("have", "want", "version", "revision", "open")
    }
    address = f"/api/desk/studies?replaces={shown['revision']}"
    desk.post("/api/desk/studies/marks/open", json={"open": False})
    first = desk.post(address, json={**typed, "raters": 2})
    assert first.status_code == 200, "a pause is not a change of the definition"
    second = desk.post(address, json={**typed, "title": "Of the second"})
    assert second.status_code == 409 and "press Change at marks" in second.json()["error"]
    kept = studio.studies.find("marks")
    assert kept is not None and (kept.raters, kept.title) == (2, typed["title"])
    other = desk.post(f"/api/desk/studies?replaces={play['revision']}", json={**typed, "title": "Named as another one"})
    assert other.status_code == 409, "made from the definition of another study"
    again = desk.post(f"/api/desk/studies?replaces={first.json()['revision']}", json={**typed, "raters": 3})
    assert again.status_code == 200
    assert desk.post(address, json={**typed, "name": "new"}).status_code == 200, "nothing has this name"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "My Study", "name: a name has 1 to 40 of the letters a to z, digits and hyphens"),
        ("name", "a" * 41, "as marks-2"),
        ("consent", "hello", 'consent: this is an object in braces, as {"version": 1}'),
        ("episodes", {"tasks": "Go"}, 'episodes.tasks: this is a list in brackets, as ["one", "two"]'),
        ("rater", 2, "rater: there is no such field; correct its name, or leave it out"),
        ("codes", {"done": "C1"}, "codes: unknown outcomes ['done']; there are complete,"),
    ],
)
def test_a_refusal_says_the_rule_in_words(studio: StudioContext, field: str, value: object, said: str) -> None:
    desk = logged_in(studio, "research")
    study = {"name": "new", "title": "New", "consent": {"text": "Read this."}, field: value}
    answer = desk.post("/api/desk/studies", json=study)
    assert answer.status_code == 422 and said in answer.json()["error"]
    assert not re.search(r"[$^]|Value error", answer.json()["error"])


def save_reward_model(root: Path, step: int, weights: bytes) -> str:
    """What the studio reads of a checkpoint of the reward stage in `root`; the hash of its weights."""
    folder = root / "reward" / "checkpoints" / f"{step:09d}"
    folder.mkdir(parents=True)
    (folder / "checkpoint.json").write_text("{}")
    (folder / "agent.pt").write_bytes(weights)
    return fingerprint(folder / "agent.pt")


def test_scores_of_another_reward_model_are_named(studio: StudioContext) -> None:
    desk, root = logged_in(studio, "research"), studio.served.root
    scores = root / "studio" / "scores.json"
    marks = studio.studies.find("marks")
    assert marks is not None
    studio.studies.keep(marks.model_copy(update={"order": "uncertain"}))

    def said() -> str:
        found: dict[str, str] = desk.get("/api/desk/studies").json()["scores"]
        assert set(found) <= {"marks"}, "the other studies need no scores"
        return found.get("marks", "")

    assert "all are drawn at random; type: interplay score run.name=" in said()
    weights = save_reward_model(root, 9, b"one")
    scores.write_text(json.dumps({"checkpoint": "000000009", "weights": weights, "uncertain": {"an episode": 0.5}}))
    assert said() == ""
    save_reward_model(root, 10, b"trained longer")
    assert "another reward model than the run's newest one" in said() and "run.round" not in said()
    shutil.rmtree(root / "reward")
    assert said() == "", "nothing newer is there to score by"
    save_reward_model(root, 9, b"trained again")
    assert "another reward model" in said()
    (root / "reward" / "checkpoints" / "000000009" / "agent.pt").write_bytes(b"one")
    assert said() == ""
    save_reward_model(root / "round-2", 1, b"two")
    assert said().endswith("run.round=2")


COPILOT = {"setter": "scripted", "solver": "scripted"}


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (
            "play",
            {"raters": 2, "checks": {"gold_share": 0.2}},
            "raters, checks: has no effect in a study of the kind play",
        ),
        ("play", {"order": "newest", "continuations": {"round": 1}}, "continuations, order: has no effect"),
        ("mark", {"live": {"seconds": 60}}, "live: has no effect in a study of the kind mark"),
        ("play", {"live": {"take_over_by": "moving"}}, "live.take_over_by: has no effect without a co-pilot"),
        (
            "play",
            {"live": {"setter": "scripted", "card": "Ask"}},
            "live.card: has no effect where no person is the setter",
        ),
        (
            "play",
            {"live": {"prompts": "free", "modifier_chance": 0.1}},
            "live.modifier_chance: has no effect with prompts",
        ),
        (
            "play",
            {"live": {"solver": "scripted", "no_partner": "wait"}},
            "live.no_partner: has no effect where one person",
        ),
        (
            "copilot",
            {"live": {"solver": "scripted", "copilot": "none"}},
            "live.copilot is a person in a study of the kind copilot",
        ),
        (
            "copilot",
            {"live": {**COPILOT, "prompts": "free"}},
            "live.prompts: has no effect where no person is the setter",
        ),
        (
            "evaluate",
            {"live": {"agents": ["clone"], "solver": "person"}},
            "live.solver: has no effect in a study of the kind",
        ),
    ],
)
def test_what_has_no_effect_is_refused(studio: StudioContext, kind: str, fields: dict[str, Any], said: str) -> None:
    study = {"name": "new", "title": "New", "kind": kind, "consent": {"text": "Read this."}, **fields}
    answer = logged_in(studio, "research").post("/api/desk/studies", json=study)
    assert answer.status_code == 422 and said in answer.json()["error"]


@pytest.mark.parametrize(
    ("kind", "live"),
    [
        ("play", {"prompts": "free", "card": "Ask", "no_partner": "wait", "on_leave": "stand_in", "seconds": 60}),
        ("play", {"solver": "scripted", "modifier_chance": 0.1}),
        ("copilot", {**COPILOT, "take_over_by": "moving"}),
        ("copilot", {"solver": "scripted", "no_partner": "wait", "prompts": "free"}),
    ],
)
def test_what_has_an_effect_is_kept(studio: StudioContext, kind: str, live: dict[str, Any]) -> None:
    study = {"name": "new", "title": "New", "kind": kind, "consent": {"text": "Read this."}, "live": live}
    answer = logged_in(studio, "research").post("/api/desk/studies", json=study)
    assert answer.status_code == 200, answer.text


@pytest.mark.slow
def test_a_study_of_agents_that_can_not_play_is_refused(tmp_path: Path) -> None:
    save_agent(tmp_path, make_world())
    save_agent(tmp_path / "round-2", make_world(), stage="reinforce")
    (tmp_path / "round-2" / "reinforce" / "stage.json").write_text("{}")
    consent = {"text": "Read this."}
    with house(tmp_path) as studio:
        desk = researcher(studio)
        for kind, live, said in (
            ("play", {"solver": "clnoe"}, "live.solver is person, scripted or an agent: "),
            ("play", {"solver": "clnoe"}, "name a stage that has been trained (clone, round-2/reinforce)"),
            ("play", {"setter": "clone"}, "live.setter is person, scripted or an agent: the agent of "),
            ("evaluate", {"agents": ["clone", "clnoe"]}, "live.agents: "),
        ):
            study = {"name": "new", "title": "New", "kind": kind, "consent": consent, "live": live}
            with pytest.raises(LiveRefused, match=re.escape(said)) as refused:
                desk.post("/api/desk/studies", study)
            assert refused.value.status == 422
        agents = ["clone", "round-2/reinforce", "reinforce"]
        study = {"name": "new", "title": "New", "kind": "evaluate", "consent": consent, "live": {"agents": agents}}
        assert desk.post("/api/desk/studies", study)["name"] == "new"


@pytest.mark.browser
@pytest.mark.slow
def test_the_second_of_two_pages_keeps_what_is_typed(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as one:
        other = one.context.new_page()
        for page in (one, other):
            page.goto(f"{studio.origin}/desk/studies")
            page.get_by_test_id("edit-marks").click()
        definitions = [page.get_by_test_id("definition") for page in (one, other)]
        shown = definitions[0].input_value()
        definitions[0].fill(shown.replace('"raters": 1', '"raters": 2'))
        one.get_by_test_id("keep-study").click()
        expect(one.locator("#editMessage")).to_contain_text("Kept as marks")
        typed = shown.replace('"raters": 1', '"raters": 3')
        definitions[1].fill(typed)
        other.get_by_test_id("keep-study").click()
        expect(other.locator("#editMessage")).to_contain_text("was not replaced")
        expect(definitions[1]).to_have_value(typed)
        other.once("dialog", lambda dialog: dialog.accept())
        other.get_by_test_id("edit-marks").click()
        expect(definitions[1]).to_have_value(shown.replace('"raters": 1', '"raters": 2'))
        definitions[1].fill(typed)
        other.get_by_test_id("keep-study").click()
        expect(other.locator("#editMessage")).to_contain_text("Kept as marks")
