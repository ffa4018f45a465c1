"""The agent of a server from the file it is started with: one that `save` wrote, or what `showdown recommend` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from showdown.agent import Agent
from showdown.agent.checkpoint import recommended
from showdown.basics.errors import UsageError
from showdown.policies import policies

ARCHIVE = b"PK"  # what a saved agent begins with


def default_save(file: Path) -> Path:
    """Where a server saves unless it is said: over the agent it was started from, or next to the recommendation."""
    return file if _is_saved(file) else file.with_suffix(".npz")


def open_agent(file: Path, save: Path, *, journal: Path | None, background: bool, new: dict[str, Any]) -> Agent:
    """The agent to go on with. `new` are options of one that is made of a recommendation and never was saved."""
    if _is_saved(file):
        # what an earlier run of this server has saved elsewhere is later than the file it was started from
        return Agent.load(save if save.exists() else file, background=background, journal=journal)
    policy, encoder = recommended(file)
    if not save.exists():
        return Agent(policy, encoder=encoder, background=background, journal=journal, **new)
    agent = Agent.load(save, background=background, journal=journal)
    if agent.policy != policy or agent.encoder != encoder:
        agent.close()
        raise UsageError(f"{save} holds another agent than {file} describes: move it away, or say --save")
    return agent


def _is_saved(file: Path) -> bool:
    try:
        with open(file, "rb") as stream:
            return stream.read(2) == ARCHIVE
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def policy_name(agent: Agent) -> str:
    """Of the preset, where the agent's policy is one; else the name of its class."""
    names = [name for name in policies.names() if policies.get(name) == agent.policy]
    return names[0] if names else type(agent.policy).__name__
