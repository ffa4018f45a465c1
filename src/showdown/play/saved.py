"""The file of a saved agent: one NumPy archive, written whole or not at all, and checked in every part when read.

A file may have been edited, cut short or written by another version. Whatever is wrong with it is said in one sentence.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import showdown.policies  # noqa: F401  (the policies a saved agent may be made of)
from showdown.config import from_json, to_json
from showdown.errors import UsageError
from showdown.files import write_atomically
from showdown.memory import check_state
from showdown.play.setting import LONGEST
from showdown.policy import Policy, State
from showdown.problem import ProblemSpec

FORMAT = 1


@dataclass(frozen=True)
class Saved:
    """All that an agent is made of."""

    policy: Policy
    spec: ProblemSpec
    key: jax.Array
    state: State
    decisions: int
    observations: int
    contexts: np.ndarray  # (kept, context_dim) history: every observation, or none for policies that never refit
    actions: np.ndarray  # (kept,)
    rewards: np.ndarray  # (kept,)


def write(path: Path, saved: Saved) -> None:
    about = {
        "format": FORMAT,
        "policy": to_json(saved.policy),
        "spec": saved.spec._asdict(),
        "decisions": saved.decisions,
        "observations": saved.observations,
    }
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "key": np.asarray(jax.random.key_data(saved.key)),
        "contexts": saved.contexts,
        "actions": saved.actions,
        "rewards": saved.rewards,
    }
    for number, leaf in enumerate(jax.tree.leaves(saved.state)):
        arrays[f"state{number}"] = np.asarray(leaf)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    try:
        write_atomically(path, lambda temporary: Path(temporary).write_bytes(buffer.getvalue()))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def read(path: Path) -> Saved:
    """What `write` wrote; raises UsageError for everything else."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UsageError(f"{path} does not hold a saved agent: it is not a file")
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        about = json.loads(arrays.pop("about").tobytes())
        known = about["format"] == FORMAT
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except Exception as error:  # zip, NumPy and JSON each have their own
        raise UsageError(f"{path} does not hold a saved agent ({type(error).__name__})") from None
    if not known:
        raise UsageError(f"{path} holds an agent saved in another format")
    try:
        return _checked(about, arrays)
    except UsageError as error:
        raise UsageError(f"{path} holds no agent that can be used: {error}") from None


def _checked(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Saved:
    policy = _policy(about.get("policy"))
    sizes = about.get("spec")
    if not isinstance(sizes, dict) or sizes.keys() != set(ProblemSpec._fields):
        raise UsageError(f"its spec must give {' and '.join(ProblemSpec._fields)}")
    spec = ProblemSpec(_count(sizes, "context_dim", 1), _count(sizes, "num_actions", 2))
    decisions, observations = (_count(about, name, 0) for name in ("decisions", "observations"))
    kept = observations if policy.refit_every else 0
    key = _array(arrays, "key", (2,), np.uint32)
    saved = Saved(
        policy=policy,
        spec=spec,
        key=jax.random.wrap_key_data(jnp.asarray(key), impl="threefry2x32"),
        state=_state(arrays, policy, spec),
        decisions=decisions,
        observations=observations,
        contexts=_array(arrays, "contexts", (kept, spec.context_dim), np.float32),
        actions=_array(arrays, "actions", (kept,), np.int32),
        rewards=_array(arrays, "rewards", (kept,), np.float32),
    )
    if arrays:
        raise UsageError(f"it also holds {', '.join(map(repr, sorted(arrays)))}, which belong to no such agent")
    if not (np.isfinite(saved.contexts).all() and np.isfinite(saved.rewards).all()):
        raise UsageError("its history holds numbers that are not finite")
    if ((saved.actions < 0) | (saved.actions >= spec.num_actions)).any():
        raise UsageError(f"its history holds actions other than 0 to {spec.num_actions - 1}")
    return saved


def _policy(data: Any) -> Policy:
    policy = from_json(data) if isinstance(data, dict) else None
    if not isinstance(policy, Policy):
        raise UsageError("what it holds is not a policy")
    policy.check()
    return policy


def _count(data: dict[str, Any], name: str, least: int) -> int:
    value = data.get(name)
    if type(value) is not int or not least <= value <= LONGEST:
        raise UsageError(f"{name} must be a whole number from {least} to {LONGEST}, not {str(value)[:40]}")
    return value


def _array(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Takes it out of `arrays`."""
    array = arrays.pop(name, None)
    if array is None:
        raise UsageError(f"the array {name!r} is missing")
    if array.shape != shape or array.dtype != dtype:
        wanted = f"{np.dtype(dtype)} of the shape {shape}"
        raise UsageError(f"the array {name!r} must be {wanted}, not {array.dtype} of the shape {array.shape}")
    return array


def _state(arrays: dict[str, np.ndarray], policy: Policy, spec: ProblemSpec) -> State:
    """A state that is not finite is one all the same: the agent says so when it is asked to choose."""
    try:
        check_state(policy, spec)
        shapes = jax.eval_shape(lambda: policy.init(jax.random.key(0), spec))
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise UsageError(f"no state can be made for its policy ({type(error).__name__})") from None
    leaves, structure = jax.tree.flatten(shapes)
    saved = [_array(arrays, f"state{number}", leaf.shape, leaf.dtype) for number, leaf in enumerate(leaves)]
    return jax.tree.unflatten(structure, map(jnp.asarray, saved))
