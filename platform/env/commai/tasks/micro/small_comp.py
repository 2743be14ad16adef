"""Functions of strings of 0 and 1, alone and composed.

V reverses, F flips, P n, repeats n times, O n, rotates n to the right, C x,y joins; O and T without a number rotate by
one and two to the right, A and E to the left. A task is a row of `FUNCTIONS`: the same letters with x for a string.
"""

from __future__ import annotations

from interplay.env.commai.task import World
from interplay.env.commai.tasks.micro.sequence import SequenceTask

max_repetitions = 4
ROTATIONS = {"o": ("O", 1), "t": ("T", 2), "a": ("A", -1), "e": ("E", -2)}  # without a number: letter, steps
FUNCTIONS = {  # name: function; in lower case the rotations without a number
    "ReverseX": "Vx",
    "FlipX": "Fx",
    "RepeatNX": "Px",
    "RotateRX": "Ox",
    "RotateR1": "ox",
    "RotateR2": "tx",
    "RotateL1": "ax",
    "RotateL2": "ex",
    "ConcatenateXY": "Cxx",
    "ReverseRepeatNX": "VPx",
    "ReverseRotateRX": "VOx",
    "ReverseConcatenateXY": "VCxx",
    "RepeatNReverseX": "PVx",
    "RepeatNRotateRX": "POx",
    "RepeatNConcatenateXY": "PCxx",
    "RotateRReverseX": "OVx",
    "RotateRRepeatNX": "OPx",
    "RotateRConcatenateXY": "OCxx",
    "ConcatenateReverseXReverseY": "CVxVx",
    "ConcatenateRepeatNXRepeatMY": "CPxPx",
    "ConcatenateRotateRXRotateSY": "COxOx",
}


def rotate(text: str, steps: int) -> str:
    """The text rotated to the right, or to the left by a negative number of steps."""
    cut = -steps % len(text)
    return text[cut:] + text[:cut]


class _FunctionTask(SequenceTask):
    """One row of `FUNCTIONS`.

    max_string_length: of each string that is drawn. odd: the parity of what is drawn, lengths in `ReverseX`, else
    numbers of repetitions and of steps; None draws both.
    """

    function = ""
    odd: bool | None = None

    def __init__(self, world: World | None = None, max_string_length: int = 6) -> None:
        super().__init__(world=world)
        if not isinstance(max_string_length, int) or max_string_length < 1:
            raise ValueError(f"max_string_length must be a whole number of at least 1, got {max_string_length!r}")
        self.max_string_length = max_string_length

    def limit_of(self, message: str, answer: str, width: int) -> int:
        """8 bits for each character but one; where characters are bits, at least what an answer needs that begins in
        the third character after the full stop."""
        needed = width * (len(message) + len(answer) + 3) + 1
        return max(8 * (len(message) + len(answer) - 1), needed if width > 1 else 0)

    def compose(self) -> tuple[str, str]:
        message, result, rest = self.evaluate(self.function)
        assert not rest, f"{self.function}: {rest} is left over"
        return message, result

    def evaluate(self, function: str) -> tuple[str, str, str]:
        """Draws the arguments of the first function in `function`. Returns its text, its result, and what follows."""
        head, rest = function[0], function[1:]
        if head == "x":
            length = self.draw(self.max_string_length, parity=self.function == "Vx")
            text = "".join(self.rng.choice("01") for _ in range(length))
            return text, text, rest
        text, value, rest = self.evaluate(rest)
        if head == "C":
            second, other, rest = self.evaluate(rest)
            return f"C{text},{second}", value + other, rest
        if head in "VF":
            return head + text, value[::-1] if head == "V" else value.translate(str.maketrans("01", "10")), rest
        if head == "P":
            times = self.draw(max_repetitions)
            return f"P{times},{text}", value * times, rest
        if head == "O":
            steps = self.draw(len(value))
            return f"O{steps},{text}", rotate(value, steps), rest
        letter, steps = ROTATIONS[head]
        return letter + text, rotate(value, steps), rest

    def draw(self, largest: int, parity: bool = True) -> int:
        """A number from 1 to `largest`, of the task's parity (2 if there is no even one)."""
        if self.odd is None or not parity:
            return self.rng.randint(1, largest)
        return self.rng.choice(range(1, largest + 1, 2) if self.odd else range(2, max(largest, 2) + 1, 2))


def _task(name: str, function: str, odd: bool | None = None) -> type[_FunctionTask]:
    doc = f"{function.upper() if odd is None else name}: see the module."
    return type(name, (_FunctionTask,), {"function": function, "odd": odd, "__module__": __name__, "__doc__": doc})


TASKS: dict[str, type[_FunctionTask]] = {f"{name}Task": _task(f"{name}Task", row) for name, row in FUNCTIONS.items()}
TASKS |= {
    f"{parity}{name}Task": _task(f"{parity}{name}Task", FUNCTIONS[name], parity == "Odd")
    for name in ("ReverseX", "RepeatNX", "RotateRX")
    for parity in ("Odd", "Even")
}


def __getattr__(name: str) -> type[_FunctionTask]:
    """The task class of this name."""
    if name not in TASKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its tasks are {', '.join(TASKS)}")
    return TASKS[name]


def __dir__() -> list[str]:
    return [*globals(), *TASKS]
