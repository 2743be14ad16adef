"""Parts of scenes go to the inference server once, and again to a server that does not know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import ray
from ray.exceptions import RayTaskError

from interplay.agent.recurrent import RecurrentState
from interplay.agent.remote_policy import DecisionRequest
from interplay.runtime.heartbeat import Heartbeat
from interplay.runtime.inference_model import KnownParts, PartsMissing
from interplay.runtime.ray.inference import InferenceClient


@dataclass(frozen=True)
class Words:
    """Scenes whose parts are texts."""

    keys: tuple[int, ...]
    texts: tuple[str, ...] = ()

    def parts(self) -> dict[int, str]:
        return dict(zip(self.keys, self.texts, strict=True))

    def with_parts(self, parts: Mapping[int, str]) -> Words:
        return replace(self, texts=tuple(parts[key] for key in self.keys) if parts else ())


def words(*keys: int) -> Any:
    return Words(keys, tuple(f"text {key}" for key in keys))


def test_parts_are_known_until_others_take_their_place() -> None:
    known, bare = KnownParts(most=3), words(1, 2).with_parts({})
    assert bare == Words((1, 2))
    with pytest.raises(PartsMissing, match="part 2"):
        known.complete(bare, {1: "text 1"})
    assert known.complete(bare, {2: "text 2"}) == words(1, 2)
    assert known.complete(Words((3,)), {3: "text 3"}) == words(3)  # type: ignore[arg-type]
    assert known.complete(bare, {}) == words(1, 2)
    known.complete(Words((4,)), {4: "text 4"})  # type: ignore[arg-type]  # in the place of 3, which was used before them
    assert known.complete(bare, {}) == words(1, 2)
    with pytest.raises(PartsMissing, match="part 3"):
        known.complete(Words((3,)), {})  # type: ignore[arg-type]


class Server:
    """An inference server that answers with the scenes that it understands; `sent` are the new parts of each call."""

    def __init__(self) -> None:
        self.known, self.sent = KnownParts(), list[list[int]]()
        self.decide = self

    def remote(self, request: DecisionRequest, limit: float, parts: Mapping[int, Any] | None = None) -> Any:
        assert request.scenes is not None
        self.sent.append(sorted(parts or {}))
        try:
            return self.known.complete(request.scenes, parts or {})
        except PartsMissing as error:
            return RayTaskError("decide", "traceback", error)


def get(answer: Any, timeout: float) -> Any:
    if isinstance(answer, RayTaskError):
        raise answer.as_instanceof_cause()
    return answer


def test_a_client_sends_new_parts_alone_and_all_to_a_server_that_has_dropped_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "get", get)
    client, server = InferenceClient(Heartbeat(), 10.0), Server()
    client.connect(server, 1, 10.0)
    state = RecurrentState(np.zeros((1, 2), np.float32), np.zeros((1, 2), np.float32))

    def ask(*keys: int) -> Any:
        return client.decide(DecisionRequest({}, state, np.zeros(1, np.uint8), 0, False, words(*keys)))

    for keys in ((1, 2), (1, 2, 3), (3, 1), (3, 2)):
        assert ask(*keys) == words(*keys)
    assert server.sent == [[1, 2], [3], [], [2]], "what the last request did not have is sent again"
    server.known = KnownParts()
    assert ask(2, 3, 4) == words(2, 3, 4)
    assert server.sent[4:] == [[4], [2, 3, 4]]
    successor = Server()
    client.connect(successor, 2, 10.0)
    assert ask(2, 3) == words(2, 3)
    assert successor.sent == [[2, 3]]
