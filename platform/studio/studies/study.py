"""A study: what is wanted of people, as a validated file. A study that has been used changes only as a new version."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from interplay.stages.live_config import PERSON, LiveConfig

OUTCOMES = ("complete", "not_needed", "screened_out", "no_partner", "partner_left", "technical", "withdrew")
MOST_RATERS = 100  # of an episode or a continuation
LONGEST_TEXT = 20_000  # letters of a text that people or programs send
MOST = 10**9  # largest number in a study; SQLite holds 64 bits
NAME_RULE = "a name has 1 to 40 of the letters a to z, digits and hyphens, and begins with a letter, as marks-2"
IN_WORDS = {  # by the type of pydantic's error, in place of its text
    "model_type": 'this is an object in braces, as {"version": 1}',
    "model_attributes_type": 'this is an object in braces, as {"version": 1}',
    "dict_type": 'this is an object in braces, as {"complete": "C1A2"}',
    "tuple_type": 'this is a list in brackets, as ["one", "two"]',
    "extra_forbidden": "there is no such field; correct its name, or leave it out",
    "missing": "this is missing",
    "string_unicode": "this text holds half of a character (a lone surrogate)",
}


class Strict(BaseModel):
    """Unknown fields are refused, and nothing changes after reading. The limit makes pydantic refuse lone surrogates in
    every text, which could be neither stored nor sent."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=LONGEST_TEXT)


def matching(pattern: str, rule: str) -> AfterValidator:
    """Accepts texts that match a pattern as a whole; `rule` is the error message, with an example."""

    def matched(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(rule)
        return text

    return AfterValidator(matched)


def problems_of(errors: Iterable[Mapping[str, Any]]) -> str:
    """The first five of pydantic's errors as one line, each with its field, without the value that was given."""
    found = []
    for each in itertools.islice(errors, 5):
        said = IN_WORDS.get(each["type"], each["msg"]).removeprefix("Value error, ")
        field = ".".join(str(part)[:40] for part in each["loc"])
        found.append(f"{field}: {said}" if field else said)
    return "; ".join(found)


class EpisodeChoice(Strict):
    """Which recorded episodes a study is about; all given conditions hold."""

    split: Literal["train", "heldout"] | None = None
    round: int | None = Field(default=None, ge=1, le=MOST)
    solver: tuple[str, ...] = ()  # kinds of players that steered it: human, agent, scripted
    tasks: tuple[str, ...] = ()


class ContinuationChoice(Strict):
    """Which continuations of scenarios a study is about; all given conditions hold."""

    round: int | None = Field(default=None, ge=1, le=MOST)
    agents: tuple[str, ...] = ()  # as `interplay continue` names them, as bc and bc_rl
    tasks: tuple[str, ...] = ()


class Checks(Strict):
    """Items with a known answer among the others, and the thresholds that warn and pause a rater.

    A gold is an episode with adjudicated marks. A swapped item shows another request than was made, so that a mark of
    progress is an error.
    """

    gold_share: float = Field(default=0.0, ge=0, le=0.5)
    swapped_share: float = Field(default=0.0, ge=0, le=0.5)
    warn_below: float = Field(default=0.5, ge=0, le=1)  # share of passed checks
    pause_below: float = Field(default=0.3, ge=0, le=1)
    least_checks: int = Field(default=4, ge=1)  # before either happens


class Qualification(Strict):
    """Golds that a rater marks before any real item: pass with this agreement and at most so few wrong signs."""

    practice: tuple[str, ...] = ()  # episodes whose answers are shown
    golds: tuple[str, ...] = ()
    least_agreement: float = Field(default=0.6, ge=0, le=1)
    most_wrong_signs: int = Field(default=1, ge=0)
    tries: int = Field(default=2, ge=1)


class LivePlan(Strict):
    """How a study plays live; what is left out is as in the settings of `studio.live`."""

    setter: str | None = None
    solver: str | None = None
    copilot: Literal["none", "person"] | None = None
    take_over_by: Literal["key", "moving"] | None = None
    seconds: float | None = Field(default=None, gt=0, le=7200)
    no_partner: Literal["end", "wait", "stand_in"] | None = None
    on_leave: Literal["end", "stand_in"] | None = None
    prompts: Literal["cues", "free"] | None = None
    card: str | None = Field(default=None, max_length=500)
    modifier_chance: float | None = Field(default=None, ge=0, le=1)
    agents: tuple[str, ...] = ()  # of an evaluation: each holds the solver's seat equally often, drawn blind


class Consent(Strict):
    """The text that people agree to before anything of theirs is recorded."""

    version: int = Field(default=1, ge=1, le=MOST)
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    must: tuple[str, ...] = ()  # statements that have to be ticked
    may: tuple[str, ...] = ()  # statements that are free


def _outcomes_only(value: dict[str, str]) -> dict[str, str]:
    if unknown := set(value) - set(OUTCOMES):
        raise ValueError(f"unknown outcomes {sorted(unknown)}; there are {', '.join(OUTCOMES)}")
    return value


ByOutcome = Annotated[dict[str, str], AfterValidator(_outcomes_only)]


class Study(Strict):
    """One version of a study."""

    name: Annotated[str, matching("[a-z][a-z0-9-]{0,39}", NAME_RULE)]
    version: int = Field(default=1, ge=1)
    kind: Literal["mark", "judge", "play", "copilot", "evaluate"] = "mark"
    title: str = Field(min_length=1, max_length=200)
    text: str = Field(default="", max_length=5000)  # what a person reads before it begins
    open: bool = True
    live: LivePlan = LivePlan()  # of the kinds in which people play
    continuations: ContinuationChoice = ContinuationChoice()  # of the kind `judge`
    raters: int = Field(default=1, ge=1, le=MOST_RATERS)  # of an episode, or of a continuation
    goal: int = Field(default=0, ge=0)  # episodes or continuations wanted; 0: all
    most_episodes: int = Field(default=0, ge=0)  # of one person; 0: no limit
    episodes: EpisodeChoice = EpisodeChoice()  # this and what follows to `qualification` are of the kind `mark`
    order: Literal["random", "newest", "stratified", "uncertain", "disagree", "novel"] = "random"
    random_share: float = Field(default=0.3, ge=0, le=1)  # of items drawn at random whatever the order
    checks: Checks = Checks()
    qualification: Qualification = Qualification()
    consent: Consent
    codes: ByOutcome = Field(default_factory=dict)  # completion codes of a crowd platform, by outcome
    addresses: ByOutcome = Field(default_factory=dict)  # ways back to it, by outcome

    @field_validator("addresses")
    @classmethod
    def _web_addresses_only(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for address in value.values():
            if not address.startswith(("https://", "http://")):
                raise ValueError("a way back is a web address, as https://platform.example/complete")
        return value

    @property
    def revision(self) -> str:
        """Changes with every change of the definition; opening and pausing change none."""
        return hashlib.sha256(self.model_dump_json(exclude={"open"}).encode()).hexdigest()[:16]

    @property
    def role(self) -> str:
        """The role that taking part needs."""
        return {"evaluate": "play", "judge": "mark"}.get(self.kind, self.kind)

    @property
    def is_live(self) -> bool:
        """Whether people play in it."""
        return self.kind not in ("mark", "judge")

    @property
    def page(self) -> str:
        """The path of the page on which people take part."""
        return "/play" if self.is_live else f"/{self.kind}"

    @model_validator(mode="after")
    def _agents_to_evaluate(self) -> Study:
        if (self.kind == "evaluate") != bool(self.live.agents):
            raise ValueError("live.agents names the agents of a study of the kind 'evaluate', and of no other")
        return self

    def way_back(self, outcome: str) -> dict[str, str]:
        """The completion code of a crowd platform and the address that leads back to it, each empty without one."""
        return {"code": self.codes.get(outcome, ""), "address": self.addresses.get(outcome, "")}

    def live_config(self, config: LiveConfig) -> LiveConfig:
        """The settings of its sessions. Raises ValueError if they do not fit each other."""
        given = {name: value for name, value in self.live.model_dump(exclude={"agents"}).items() if value is not None}
        if self.kind == "copilot":
            given.setdefault("copilot", PERSON)
        if self.kind == "evaluate":
            given |= {"setter": PERSON, "solver": self.live.agents[0], "copilot": "none", "judge_open": True}
            given.setdefault("prompts", "free")
        return replace(config, **given)


FIRST_STUDY = Study(
    name="marks",
    title="Mark progress and slips",
    text="You watch recordings of a solver that was asked for something, and mark where it made progress or slipped.",
    consent=Consent(
        text=(
            "You take part in research on teaching agents by feedback. What you mark is stored in this studio under a "
            "pseudonym, with the time at which you did it, and agents learn from it.\n"
            "You may stop at any time. Under 'My data' you see, download and delete what is yours; what a model has "
            "already learned can't be taken back."
        ),
        must=("I am 18 or older.", "What I mark may be recorded and used for research."),
    ),
)

FIRST_PLAY = Study(
    name="live",
    kind="play",
    title="Play in the world",
    text="You ask another player for things, or do what it asks for.",
    consent=Consent(
        text=(
            "You play with another person or a program in a simulated world. What you do and type is recorded under a "
            "pseudonym with the time, and agents learn from it. You may stop at any time."
        ),
        must=("I am 18 or older, and what I do and type here may be recorded and used for research.",),
    ),
)
