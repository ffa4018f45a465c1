"""What requests and answers look like, how a request is read, and what is wrong with one, in a sentence.

The classes are also what the OpenAPI page describes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

from showdown.basics.errors import UsageError

B = TypeVar("B", bound="Body")
# a number of fewer digits than LONG, without an exponent of three digits, fits into a double
LONG, HUGE = b"0" * 200, b"e000"
SHAPES = bytes(ord("0") if byte in b"0123456789" else ord("e") if byte in b"eE" else ord(" ") for byte in range(256))

Name = Annotated[str, Strict(), Field(max_length=1000)]
Action = Name | Annotated[int, Strict()]
Context = Annotated[
    dict[str, Any] | list[Any],
    Field(description="a row by column names or in the table's order; numbers only where the agent has no table"),
]
Features = Annotated[
    dict[str, Any] | list[Any], Field(description="of one action: by the table's names, or numbers where there is none")
]
Offered = Annotated[
    dict[Annotated[str, Field(max_length=1000)], Features],
    Field(description="the actions that may be taken, each with its features: they may be others each time"),
]
Reward = Annotated[float, Strict(), Field(description="a finite number")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Choose(Body):
    context: Context
    available: Annotated[list[Action] | None, Field(description="the actions that may be taken; all by default")] = None
    actions: Offered | None = None


class ChooseBatch(Body):
    decisions: list[Choose]


class Chosen(Body):
    id: Annotated[str, Field(description="to send with the reward")]
    action: Action
    propensity: Annotated[float, Field(description="the probability with which this action was taken: log it")]
    propensity_error: Annotated[float, Field(description="its standard error; 0 where it is exact")]


class Chances(Body):
    probabilities: Annotated[dict[str, float], Field(description="with which each action would be taken now")]
    errors: Annotated[dict[str, float], Field(description="their standard errors; 0 where they are exact")]


class Mistake(Body):
    error: Annotated[str, Field(description="one sentence")]


class ChosenBatch(Body):
    decisions: list[Chosen | Mistake]


class Learn(Body):
    """The id of a decision and its reward, or a context and an action that others took, and its reward."""

    reward: Reward
    id: Name | None = None
    context: Context | None = None
    action: Action | None = None
    features: Features | None = None


class LearnBatch(Body):
    rewards: list[Learn]


class LearnReply(Body):
    learned: Annotated[bool, Field(description="false where the update would leave a state that is not finite")]


class LearnReplyOne(LearnReply):
    error: Annotated[str | None, Field(description="why it was not learned")] = None


class LearnReplyBatch(Body):
    learned: Annotated[int, Field(description="how many were")]
    rewards: list[LearnReplyOne]


class OneAction(Body):
    name: Annotated[Action, Field(description="of the action")]


class Actions(Body):
    actions: Annotated[list[Action], Field(description="those that the agent has")]


class Health(Body):
    status: Annotated[str, Field(description="ok, or degraded while the journal or the last save could not be written")]
    reason: Annotated[str, Field(description="why it is degraded")]
    policy: str
    decisions: int
    observations: int
    seconds_since_save: float | None


# Reading


def read(kind: type[B], body: bytes) -> B:
    """A body of this kind; raises UsageError, in one sentence, for everything else."""
    if not body:
        raise UsageError("the body is empty; it must be a JSON object")
    try:
        return kind.model_validate(strict_json(body))
    except ValidationError as error:
        raise UsageError(sentence(error.errors(include_url=False))) from None


def strict_json(body: bytes) -> Any:
    """JSON as its standard has it: no NaN, no number too large for a double, no key twice, no nesting without end."""
    try:
        value = json.loads(
            body.decode(),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite if _may_overflow(body) else float,
            parse_int=_whole,
        )
        if b"\\ud" in body.lower():  # perhaps half of a surrogate pair, which cannot be written anywhere
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError as error:
        reason = f"{error.msg[0].lower()}{error.msg[1:]} at line {error.lineno} column {error.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    except UnicodeError:
        reason = "it is not UTF-8, or holds half of a surrogate pair"
    except ValueError as error:
        reason = str(error)
    raise UsageError(f"the body is not JSON that can be used: {reason}")


def _may_overflow(body: bytes) -> bool:
    """Whether each number must be looked at, which takes long where there are thousands of them."""
    shapes = body.translate(SHAPES, b"+")
    return LONG in shapes or HUGE in shapes


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has the key {twice[:60]!r} twice")
    return made


def _no_constant(name: str) -> float:
    raise ValueError("it has NaN; send null instead" if name == "NaN" else "a number is infinite or too large")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is infinite or too large")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > 1 << 63:
        raise ValueError("a whole number is too large")
    return int(text)


# What is wrong: pydantic speaks of Python types, which a client does not know

WANTED = {  # by the name of a field; with [] what a list of that name holds
    "": "a JSON object",
    "context": "an object with a value for each column, or a list of values",
    "available": "a list of actions",
    "name": "the name of an action or its number",
    "actions": "an object with the features of each action",
    "features": "an object with a value for each feature, or a list of numbers",
    "available[]": "the name of an action or its number",
    "action": "the name of an action or its number",
    "reward": "a number",
    "id": "text",
    "decisions": "a list",
    "decisions[]": "a JSON object",
    "rewards": "a list",
    "rewards[]": "a JSON object",
}


UNSUPPORTED = {  # fields that a client of another service may send; docs/beyond-the-paper.md lists what is missing
    **dict.fromkeys(
        ("k", "top_k", "slate", "slots"), "one decision takes one action: slates and top-k are not supported"
    ),
    **dict.fromkeys(("min", "max", "range"), "actions are a finite set: cut a continuous one into steps"),
}


def sentence(errors: Sequence[Mapping[str, Any]]) -> str:
    """What the first of pydantic's errors says."""
    first = errors[0]
    kind, parts = first["type"], list(first["loc"])
    if kind in ("missing", "extra_forbidden"):
        where = _place(parts[:-1]) or "the body"
        if kind == "extra_forbidden" and parts[-1] in UNSUPPORTED:
            return UNSUPPORTED[str(parts[-1])]
        return f"{where} lacks {parts[-1]!r}" if kind == "missing" else f"{where} has an unknown field, {parts[-1]!r}"
    place = _place(parts)
    if kind == "string_too_long":
        return f"{place} may have at most {first['ctx']['max_length']} characters"
    return f"{place or 'the body'} must be {WANTED[_field(parts)]}"


def _known(parts: Sequence[str | int]) -> list[str | int]:
    """The parts without pydantic's names of the types that it tried, such as `list[any]`."""
    return [part for part in parts if isinstance(part, int) or part in WANTED]


def _place(parts: Sequence[str | int]) -> str:
    """Where it is, as a program would write it: decisions[1].context."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _known(parts)).lstrip(".")


def _field(parts: Sequence[str | int]) -> str:
    """The last part, as `WANTED` has it."""
    *before, last = ["", *_known(parts)]
    return f"{before[-1]}[]" if isinstance(last, int) else last
