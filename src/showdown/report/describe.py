"""What is said about a preset: one line for `showdown list` and `show`, and for the page its source and its fields."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import dataclass
from typing import Any

from showdown.analysis import preset_of
from showdown.basics.errors import UsageError
from showdown.config import all_fields, core, from_json, layers, parameters
from showdown.config.registry import Registry
from showdown.policies import policies
from showdown.problems import problems


def preset_summary(registry: Any, entry: Any) -> str:
    """One line: what sets a preset apart from its base, or else the class's own sentence."""
    if entry.base:
        base = registry.entry(entry.base).value
        old, wrapped = all_fields(base), {type(layer) for layer in layers(base)}
        changed = {name: item for name, item in all_fields(entry.value).items() if old.get(name) != item}
        changes = [f"{name}={item}" for name, item in changed.items()]
        added = [type(layer).__name__ for layer in layers(entry.value) if type(layer) not in wrapped]
        parts = [f"with {', '.join(changes)}" if changes else "", f"wrapped in {', '.join(added)}" if added else ""]
        return f"{entry.base} {', '.join(filter(None, parts))}" if changes or added else f"the same as {entry.base}"
    outer = [type(layer).__name__ for layer in layers(entry.value)[:-1] if type(layer).__name__ != "WarmUp"]
    about = sentence(type(core(entry.value)))
    return f"{about} Wrapped in {', '.join(outer)}." if outer else about  # nearly all are wrapped in WarmUp


def sentence(kind: type) -> str:
    """What a class says of itself in one sentence; where it says nothing, what its module says."""
    own = kind.__dict__.get("__doc__") or ""
    generated = f"{kind.__name__}("  # what dataclass writes where the author wrote nothing
    text = own if own and not own.startswith(generated) else (sys.modules[kind.__module__].__doc__ or "")
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


SHOWDOWN = {"title": "Deep Bayesian Bandits Showdown (2018)", "url": "https://arxiv.org/abs/1802.09127"}


@dataclass(frozen=True)
class Reading:
    page: str  # of the documentation, without its ending
    title: str = ""  # of the method's own paper
    arxiv: str = ""


READING = {  # by the module of `showdown.policies` that a method is in
    "linear": Reading("policies/linear", "Agrawal and Goyal 2013", "1209.3352"),
    "greedy_network": Reading("policies/greedy-network"),
    "neural_linear": Reading("policies/neural-linear", "Snoek et al. 2015", "1502.05700"),
    "dropout": Reading("policies/dropout", "Gal and Ghahramani 2016", "1506.02142"),
    "bootstrap": Reading("policies/bootstrap", "Osband et al. 2016", "1602.04621"),
    "parameter_noise": Reading("policies/parameter-noise", "Plappert et al. 2018", "1706.01905"),
    "bbb": Reading("policies/bbb", "Blundell et al. 2015", "1505.05424"),
    "alpha_divergence": Reading("policies/alpha-divergence", "Hernández-Lobato et al. 2016", "1511.03243"),
    "sgmcmc": Reading("policies/sgmcmc", "Ahn et al. 2012", "1206.6380"),
    "gaussian_process": Reading("policies/gaussian-process"),
    "council": Reading("policies/council"),
    "first_council": Reading("policies/council"),
    "sparse_gaussian_process": Reading("policies/gaussian-process", "Hensman et al. 2013", "1309.6835"),
}
PROBLEMS_PAGE = "problems"


def policy_card(name: str, stored: dict[str, Any]) -> dict[str, Any]:
    """What the page says about a policy: about (one line), variant, docs (a page) and paper, as far as known."""
    kind = _kind(stored)
    card = _card(policies, name, kind)
    module = kind.__module__.removeprefix("showdown.policies.") if kind else ""
    reading = READING.get(module)
    if reading is not None:
        card["docs"] = reading.page
        if reading.arxiv:
            card["paper"] = {"title": reading.title, "url": f"https://arxiv.org/abs/{reading.arxiv}"}
    return card


def problem_card(name: str, stored: dict[str, Any]) -> dict[str, Any]:
    """What the page says about a problem: about (one line), variant and docs (a page), as far as known."""
    card = _card(problems, name, _kind(stored))
    return {**card, "docs": PROBLEMS_PAGE} if preset_of(name) in problems else card


def _card(registry: Registry[Any], name: str, kind: type | None) -> dict[str, Any]:
    card = {"about": sentence(kind) if kind else "", "variant": _variant(registry, name)}
    return {part: text for part, text in card.items() if text}


def _variant(registry: Registry[Any], name: str) -> str:
    """How a preset differs from the one it is a variation of; nothing for one that stands for itself."""
    if name in registry:
        entry = registry.entry(name)
        return preset_summary(registry, entry) if entry.base else ""
    preset, _, fields = name.partition("[")
    return f"{preset} with {fields.removesuffix(']').replace(',', ', ')}" if fields and preset in registry else ""


def _kind(stored: dict[str, Any]) -> type | None:
    """The class behind a stored configuration, without its wrappers; None where it is not known here."""
    try:
        kind = type(core(from_json(stored)))
    except UsageError:  # a plug-in that is not loaded, or fields of another version
        return None
    return kind if kind.__module__ in sys.modules else None


def configuration_rows(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """A row per field, outermost layer first: of (the layer's class), field and value."""
    own = [
        {"of": stored.get("kind", ""), "field": name, "value": _text(item)}
        for name, item in stored.items()
        if name not in ("kind", "numerics", "source") and not _nested(item)
    ]
    return own + [row for item in stored.values() for inner in _nested(item) for row in configuration_rows(inner)]


def family(stored: dict[str, Any]) -> str:
    """The innermost class in words: `Linear known noise`."""
    inner = _nested(stored.get("inner"))
    if inner:
        return family(inner[0])
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", stored.get("kind", "")) or ["unknown"]
    return " ".join([words[0], *(word if word.isupper() else word.lower() for word in words[1:])])


def field_comments(stored: dict[str, Any]) -> dict[str, str]:
    """The explanation of every field, by `Class.field`; nothing where the class or a field is not known any more."""
    try:
        value = from_json(stored)
    except UsageError:  # a plug-in that is not loaded, or fields of another version
        return {}
    return {f"{each.of}.{each.field}": each.explanation for each in parameters(value)}


def _nested(item: Any) -> list[dict[str, Any]]:
    """The configurations that a field holds: itself, or the members of a list."""
    members = item if isinstance(item, list) else [item]
    return [member for member in members if isinstance(member, dict) and "kind" in member]


def _text(item: Any) -> str:
    if isinstance(item, list):
        return f"({', '.join(map(_text, item))})"
    if item is None or isinstance(item, bool):
        return str(item).lower()
    return str(item)
