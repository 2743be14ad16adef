"""Parts of scenes go to the inference server once, and again to a server that does not know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """Scenes whose parts are texts, by number; a row shows one."""

    texts: Mapping[int, str] = field(default_factory=dict)

    def parts(self, views: Any) -> dict[int, str]:
        return {key: self.texts[key] for key in views[:, 0].astype(int).tolist()}

    def with_parts(self, parts: Mapping[int, str]) -> Words:
        return Words(dict(parts))


BARE: Any = Words()


def texts(*keys: int) -> dict[int, Any]:
    return {key: f"text {key}" for key in keys}


def test_parts_are_known_until_others_take_their_place() -> None:
    known = KnownParts(most=3)
    with pytest.raises(PartsMissing, match=r"parts \[2\]"):
        known.complete(BARE, {1: "text 1", 2: None})
    assert known.complete(BARE, {1: None, 2: "text 2"}) == Words(texts(1, 2))
    assert known.complete(BARE, texts(3)) == Words(texts(3))
    assert known.complete(BARE, {1: None, 2: None}) == Words(texts(1, 2))
    known.complete(BARE, texts(4))  # in the place of 3, which was used before 1 and 2
    assert known.complete(BARE, {1: None, 2: None}) == Words(texts(1, 2))
    with pytest.raises(PartsMissing, match=r"parts \[3\]"):
        known.complete(BARE, {3: None})
    assert known.complete(BARE, texts(5, 6, 7, 8)) == Words(texts(5, 6, 7, 8)), "more at once than are kept"


class Server:
    """An inference server that answers with the scenes that it understands; `sent` are the new parts of each call."""

    def __init__(self) -> None:
        self.known, self.sent = KnownParts(), list[list[int]]()
        self.decide = self

    def remote(self, request: DecisionRequest, limit: float, parts: Mapping[int, Any] | None = None) -> Any:
        assert request.scenes == Words(), "parts come beside the scenes"
        self.sent.append(sorted(key for key, part in (parts or {}).items() if part is not None))
        try:
            return self.known.complete(BARE, parts or {})
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
        rows: Any = np.array(keys, np.float32)[None, :, None]  # [1, B, 1]
        scenes: Any = Words(texts(*range(10)))
        return client.decide(DecisionRequest({"view": rows}, state, np.zeros(1, np.uint8), 0, scenes))

    for keys in ((1, 2), (1, 2, 3), (3, 1), (3, 2)):
        assert ask(*keys) == Words(texts(*keys))
    assert server.sent == [[1, 2], [3], [], [2]], "what the last request did not show is sent again"
    server.known = KnownParts()
    assert ask(2, 3, 4) == Words(texts(2, 3, 4))
    assert server.sent[4:] == [[4], [2, 3, 4]]
    successor = Server()
    client.connect(successor, 2, 10.0)
    assert ask(2, 3) == Words(texts(2, 3))
    assert successor.sent == [[2, 3]]
