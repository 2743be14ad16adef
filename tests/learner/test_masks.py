"""The masks of the steps, and the value of the next row at each step."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.learner.masks import discounts, valid_steps


def test_the_picture_in_the_docstring() -> None:
    last = torch.tensor([[False, False, False, True, False, False]]).T
    assert valid_steps(last=last)[:, 0].tolist() == [True, True, True, False, True]
    torch.testing.assert_close(discounts(last=last, gamma=0.5)[:, 0], torch.tensor([0.5, 0.5, 0, 0, 0.5]))

    limit = torch.tensor([[False, False, False, True, False, False]]).T
    limited = discounts(last=last, gamma=0.5, truncated=limit)[:, 0]
    torch.testing.assert_close(limited, torch.tensor([0.5, 0.5, 0.5, 0, 0.5]))


@given(rows=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=8))
@settings(max_examples=30, deadline=None)
def test_discounts_row_by_row(rows: list[list[bool]]) -> None:
    last = torch.tensor(rows)
    fast = discounts(last=last, gamma=0.96)
    for t in range(len(rows) - 1):
        for b in range(3):
            ends = rows[t][b] or rows[t + 1][b]
            assert float(fast[t, b]) == (0.0 if ends else float(torch.tensor(0.96)))
