"""Tables of strings of two and three bits, alone and composed: "NCa:011." asks for 011 in the first one of three bits.

`LookupTaskR3D4` is the fourth of the sixteen tables of three bits. `FuncLookupTaskR3D1_4` ("FCad:011.") applies the
first and then the fourth, and asks for the last result; `ProcLookupTask..` for all results; `CatLookupTask..` for what
each table makes of the input itself. Two inputs of a composition are reserved for `..LookupTestTask..`. Classes are
made by name.
"""

from __future__ import annotations

import random
import re
import string
from functools import cache
from itertools import permutations

from interplay.env.commai.tasks.micro.sequence import SequenceTask

LENGTHS = (2, 3)  # bits
NUMBER_OF_TABLES = 16
LONGEST_COMPOSITION = 3
MAX_PONDERING = 5  # tokens by which an answer may be late
NAME = re.compile(r"(?:(Func|Cat|Proc)Lookup(Test)?|Lookup)TaskR(\d+)D(\d+(?:_\d+)*)")


@cache
def tables(length: int) -> tuple[tuple[int, ...], ...]:
    """The bijections of the strings of a length: for each table, the output of each input. The same in each process."""
    rng = random.Random(f"lookup tables of {length} bits")
    strings = range(2**length)
    if length == 2:
        return tuple(rng.sample(list(permutations(strings)), NUMBER_OF_TABLES))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < NUMBER_OF_TABLES:
        drawn[tuple(rng.sample(strings, len(strings)))] = None
    return tuple(drawn)


def held_out(length: int, chain: tuple[int, ...]) -> frozenset[int]:
    """The two inputs of a composition that only its test task asks for."""
    return frozenset(random.Random(f"test inputs {length} {chain}").sample(range(2**length), 2))


class _LookupTask(SequenceTask):
    """One composition of tables. kind: N (a table alone), F, C or P; chain: the numbers of its tables, from 1."""

    late = -1
    pondering = "p"
    kind = "N"
    length = 2
    chain: tuple[int, ...] = (1,)
    test = False

    def limit_of(self, message: str, answer: str, width: int) -> int:
        """The length of instruction and answer plus `MAX_PONDERING` characters."""
        return width * (len(message) + len(answer) + MAX_PONDERING)

    def inputs(self) -> list[int]:
        """The inputs of this task."""
        reserved = held_out(self.length, self.chain) if len(self.chain) > 1 else frozenset()
        return [given for given in range(2**self.length) if (given in reserved) == self.test]

    def results(self, given: int) -> list[int]:
        """What each table of the chain returns."""
        found: list[int] = []
        for number in self.chain:
            argument = found[-1] if found and self.kind in "FP" else given
            found.append(tables(self.length)[number - 1][argument])
        return found

    def compose(self) -> tuple[str, str]:
        given = self.rng.choice(self.inputs())
        results = self.results(given)[-1 if self.kind == "F" else 0 :]
        letters = "".join(string.ascii_lowercase[number - 1] for number in self.chain)
        message = f"{self.kind}{string.ascii_uppercase[self.length - 1]}{letters}:{given:0{self.length}b}"
        return message, "".join(f"{result:0{self.length}b}" for result in results)


@cache
def task_class(name: str) -> type[_LookupTask]:
    """The task class of this name.

    Raises:
        ValueError: no such task; the message states the form of a name.
    """
    found = NAME.fullmatch(name)
    chain = tuple(int(number) for number in found[4].split("_")) if found else ()
    longest = 1 if found and found[1] is None else LONGEST_COMPOSITION
    shortest = 1 if longest == 1 else 2
    if (
        found is None
        or int(found[3]) not in LENGTHS
        or not shortest <= len(chain) <= longest
        or not all(1 <= number <= NUMBER_OF_TABLES for number in chain)
    ):
        raise ValueError(
            f"no lookup task {name!r}: write LookupTaskR<bits>D<table>, or Func, Cat or Proc, then LookupTask or "
            f"LookupTestTask, then R<bits>D<table>_<table>, with 2 or 3 bits, tables 1 to {NUMBER_OF_TABLES}, and at "
            f"most {LONGEST_COMPOSITION} of them, as in LookupTaskR2D1 or FuncLookupTaskR3D1_4"
        )
    fields = {"kind": (found[1] or "N")[0], "length": int(found[3]), "chain": chain, "test": found[2] is not None}
    return type(name, (_LookupTask,), fields | {"__module__": __name__, "__doc__": f"{name}: see the module."})


def __getattr__(name: str) -> type[_LookupTask]:
    """The task class of this name."""
    if "Lookup" not in name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return task_class(name)
    except ValueError as error:
        raise AttributeError(str(error)) from error
