"""The file of a saved agent: one NumPy archive, written whole or not at all, and checked in every part when read.

A file may have been edited, cut short or written by another version. Whatever is wrong with it is said in one sentence.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import showdown.policies  # noqa: F401  (the policies a saved agent may be made of)
from showdown.agent import saved_checks as checks
from showdown.agent.learner import takes_bound
from showdown.agent.replay_buffer import Bound
from showdown.basics.errors import UsageError, why
from showdown.basics.files import write_atomically
from showdown.config import from_json, to_json
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.play.memory import check_state
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.tricks.threefry import key_of

FORMAT = 3  # 3: the state of a wrapped policy is that of the policy alone, and a spec has `action_dim`
LARGEST_SIZE = (1 << 31) - 1  # of an array, as XLA counts


@dataclass(frozen=True)
class SavedCounts:
    """What an agent counts and remembers besides what it has learned."""

    seen: int = 0  # rows ever given to the history
    forgotten_rows: int = 0  # of those taken out again
    refused_updates: int = 0
    refused_refits: int = 0
    failed_refits: int = 0
    given: int = 0  # rows of history that others decided
    dropped: int = 0  # decisions forgotten before their reward came
    unknown: int = 0  # rewards for unknown decisions
    last_record: int = 0  # of the journal


@dataclass(frozen=True)
class Saved:
    """All that an agent is made of."""

    policy: Policy
    spec: ProblemSpec
    key: jax.Array
    state: State
    decisions: int
    observations: int
    inputs: np.ndarray  # (kept, input_dim) history, the oldest first; none for policies that never read it
    actions: np.ndarray  # (kept,)
    rewards: np.ndarray  # (kept,)
    waiting_inputs: np.ndarray  # (waiting, input_dim) of decisions that wait for their reward
    waiting_actions: np.ndarray  # (waiting,)
    service: SavedCounts = SavedCounts()
    last_check: str = ""  # of the journal's last record
    bound: Bound = None  # of the history
    owed: list[int] | None = None  # warm-up steps still to play
    remember: int = 10_000  # decisions that may wait for their reward
    began_with: int = 0  # actions of the new agent; others were added
    names: list[Any] = field(default_factory=list)  # of the actions by slot; None is a slot without an action
    freed: list[int] = field(default_factory=list)  # slots whose action was removed, the first to be reused first
    waiting: list[str] = field(default_factory=list)  # ids of those that do
    encoder: Encoder | None = None
    encode_counts: EncodeCounts = field(default_factory=EncodeCounts)  # what was unusual in the rows so far


def write(path: Path, saved: Saved) -> None:
    about = {
        "format": FORMAT,
        "policy": to_json(saved.policy),
        "spec": saved.spec._asdict(),
        "decisions": saved.decisions,
        "observations": saved.observations,
        "service": asdict(saved.service),
        "last_check": saved.last_check,
        "bound": None if saved.bound is None else {type(saved.bound).__name__.lower(): saved.bound.rows},
        "owed": saved.owed,
        "remember": saved.remember,
        "began_with": saved.began_with,
        "names": saved.names,
        "freed": saved.freed,
        "waiting": saved.waiting,
        "encoder": None if saved.encoder is None else saved.encoder.to_json(),
        "encode_counts": saved.encode_counts.as_dict(),
    }
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "key": np.asarray(jax.random.key_data(saved.key)),
        "contexts": saved.inputs,
        "actions": saved.actions,
        "rewards": saved.rewards,
        "waiting_contexts": saved.waiting_inputs,
        "waiting_actions": saved.waiting_actions,
    }
    for number, leaf in enumerate(jax.tree.leaves(saved.state)):
        arrays[f"state{number}"] = np.asarray(leaf)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)  # floats hardly get smaller, and compressing takes a core for long
    try:
        write_atomically(path, lambda temporary: Path(temporary).write_bytes(buffer.getbuffer()))
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
        raise UsageError(f"{path} does not hold a saved agent ({why(error)})") from None
    if not known:
        raise UsageError(f"{path} holds an agent saved in another format; learn its history anew with `learn_many`")
    try:
        return _checked(about, arrays)
    except UsageError as error:
        raise UsageError(f"{path} holds no agent that can be used: {error}") from None


def policy_of(path: Path) -> Policy:
    """The policy of a saved agent, before anything is computed; raises UsageError for a file that holds none."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            about = json.loads(stored["about"].tobytes())
    except Exception as error:
        raise UsageError(f"{path} does not hold a saved agent ({why(error)})") from None
    return _policy(about.get("policy"))


def _checked(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Saved:
    policy = _policy(about.get("policy"))
    sizes = about.get("spec")
    if not isinstance(sizes, dict) or sizes.keys() != set(ProblemSpec._fields):
        raise UsageError(f"its spec must give {' and '.join(ProblemSpec._fields)}")
    least = {"context_dim": 1, "num_actions": 2, "action_dim": 0}
    spec = ProblemSpec(**{name: checks.count(sizes, name, least[name], LARGEST_SIZE) for name in ProblemSpec._fields})
    decisions, observations = (checks.count(about, name, 0) for name in ("decisions", "observations"))
    more = _service(about, arrays, spec)
    service, bound = more["service"], more["bound"]
    _check_seen(service, policy, observations)
    kept = _kept(service, bound, arrays)
    key = checks.array(arrays, "key", (2,), np.uint32)
    saved = Saved(
        policy=policy,
        spec=spec,
        key=key_of(jnp.asarray(key)),
        state=_state(arrays, policy, spec),
        decisions=decisions,
        observations=observations,
        inputs=checks.array(arrays, "contexts", (kept, spec.input_dim), np.float32),
        actions=checks.array(arrays, "actions", (kept,), np.int32),
        rewards=checks.array(arrays, "rewards", (kept,), np.float32),
        **more,
    )
    if arrays:
        raise UsageError(f"it also holds {', '.join(map(repr, sorted(arrays)))}, which belong to no such agent")
    checks.check_rows("history", spec, saved.inputs, saved.actions)
    checks.check_rows("list of decisions", spec, saved.waiting_inputs, saved.waiting_actions)
    if not np.isfinite(saved.rewards).all():
        raise UsageError("its history holds numbers that are not finite")
    return saved


def _kept(service: SavedCounts, bound: Bound, arrays: dict[str, np.ndarray]) -> int:
    """How many rows the history must have. One that was bounded later than it began may have fewer than it may."""
    if bound is None:
        return max(0, service.seen - service.forgotten_rows)
    most, found = min(service.seen, bound.rows), arrays.get("actions", np.zeros(0))
    return len(found) if found.ndim and len(found) < most else most


def _check_seen(service: SavedCounts, policy: Policy, observations: int) -> None:
    """Refuse a history that was not given every observation; older versions kept one that is never read."""
    right = [observations if takes_bound(policy) else 0, observations if policy.refit_every or policy.in_python else 0]
    if service.seen not in right or (service.seen and service.forgotten_rows > service.seen):
        raise UsageError(f"its history was given {service.seen} rows, and {observations} were observed")


def _service(about: dict[str, Any], arrays: dict[str, np.ndarray], spec: ProblemSpec) -> dict[str, Any]:
    """What belongs to a service, by field."""
    counts = about.get("service")
    if not isinstance(counts, dict) or counts.keys() != {each.name for each in fields(SavedCounts)}:
        raise UsageError("its counts are not those of an agent")
    service = SavedCounts(**{name: checks.count(counts, name, 0) for name in counts})
    owed, waiting = about.get("owed"), about.get("waiting")
    if owed is not None and not checks.are(owed, int):
        raise UsageError("its warm-up steps must be whole numbers")
    if not isinstance(waiting, list) or not checks.are(waiting, str) or len(set(waiting)) < len(waiting):
        raise UsageError("the decisions that wait for their reward must have an id each")
    encoder = about.get("encoder")
    began_with = checks.count(about, "began_with", 2, spec.num_actions) if "began_with" in about else spec.num_actions
    own = None if encoder is None else _encoder(encoder, spec._replace(num_actions=began_with))
    return {
        "began_with": began_with,
        **checks.actions(about, spec, list(range(spec.num_actions)) if own is None else list(own.action_names)),
        "service": service,
        "last_check": checks.last_check(about.get("last_check", "")),  # new in this format, like the counts of encoders
        "bound": checks.bound(about.get("bound")),
        "owed": owed,
        "remember": checks.count(about, "remember", 1),
        "waiting": waiting,
        "waiting_inputs": checks.array(arrays, "waiting_contexts", (len(waiting), spec.input_dim), np.float32),
        "waiting_actions": checks.array(arrays, "waiting_actions", (len(waiting),), np.int32),
        "encoder": own,
        "encode_counts": EncodeCounts.from_dict(about.get("encode_counts")),
    }


def _encoder(data: Any, spec: ProblemSpec) -> Encoder:
    encoder = Encoder.from_json(data)
    if (encoder.context_dim, len(encoder.action_names), encoder.action_dim) != spec:
        raise UsageError("its encoder makes contexts or actions of another size")
    return encoder


def _policy(data: Any) -> Policy:
    policy = from_json(data) if isinstance(data, dict) else None
    if not isinstance(policy, Policy):
        raise UsageError("what it holds is not a policy")
    policy.check()
    return policy


def _state(arrays: dict[str, np.ndarray], policy: Policy, spec: ProblemSpec) -> State:
    """A state that is not finite is one all the same: the agent says so when it is asked to choose."""
    try:
        check_state(policy, spec)
        shapes = jax.eval_shape(lambda: policy.init(jax.random.key(0), spec))
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise UsageError(f"no state can be made for its policy ({why(error)})") from None
    leaves, structure = jax.tree.flatten(shapes)
    saved = [checks.array(arrays, f"state{number}", leaf.shape, leaf.dtype) for number, leaf in enumerate(leaves)]
    return jax.tree.unflatten(structure, map(jnp.asarray, saved))
