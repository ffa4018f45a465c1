"""What requests and answers look like. These classes are also what the OpenAPI page describes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict

Name = Annotated[str, Strict(), Field(max_length=1000)]
Action = Name | Annotated[int, Strict()]
Context = Annotated[
    dict[str, Any] | list[Any],
    Field(description="a row by column names or in the table's order; numbers only where the agent has no table"),
]
Reward = Annotated[float, Strict(), Field(description="a finite number")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Choose(Body):
    context: Context
    available: Annotated[list[Action] | None, Field(description="the actions that may be taken; all by default")] = None


class ChooseBatch(Body):
    decisions: list[Choose]


class Decided(Body):
    id: Annotated[str, Field(description="to send with the reward")]
    action: Action
    propensity: Annotated[float, Field(description="the probability with which this action was taken: log it")]
    propensity_error: Annotated[float, Field(description="its standard error; 0 where it is exact")]


class Problem(Body):
    error: Annotated[str, Field(description="one sentence")]


class DecidedBatch(Body):
    decisions: list[Decided | Problem]


class Learn(Body):
    """The id of a decision and its reward, or a context and an action that others took, and its reward."""

    reward: Reward
    id: Name | None = None
    context: Context | None = None
    action: Action | None = None


class LearnBatch(Body):
    rewards: list[Learn]


class Learned(Body):
    learned: Annotated[bool, Field(description="false where the update would leave a state that is not finite")]


class LearnedOne(Learned):
    error: Annotated[str | None, Field(description="why it was not learned")] = None


class LearnedBatch(Body):
    learned: Annotated[int, Field(description="how many were")]
    rewards: list[LearnedOne]


class Health(Body):
    status: str
    policy: str
    decisions: int
    observations: int
    seconds_since_save: float | None
