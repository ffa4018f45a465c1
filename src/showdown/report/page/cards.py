"""One line about every method and problem of a page, with where to read more: the documentation and the paper."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from showdown.analysis import preset_of
from showdown.config import core, from_json
from showdown.errors import UsageError
from showdown.policies import policies
from showdown.problems import problems
from showdown.registry import Registry
from showdown.report.summary import sentence, summary

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
    """about (one line), variant (what sets it apart), docs (a page) and paper; only those that are known."""
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
    card = _card(problems, name, _kind(stored))
    return {**card, "docs": PROBLEMS_PAGE} if preset_of(name) in problems else card


def _card(registry: Registry[Any], name: str, kind: type | None) -> dict[str, Any]:
    card = {"about": sentence(kind) if kind else "", "variant": _variant(registry, name)}
    return {part: text for part, text in card.items() if text}


def _variant(registry: Registry[Any], name: str) -> str:
    """How a preset differs from the one it is a variation of; nothing for one that stands for itself."""
    if name in registry:
        entry = registry.entry(name)
        return summary(registry, entry) if entry.base else ""
    preset, _, fields = name.partition("[")
    return f"{preset} with {fields.removesuffix(']').replace(',', ', ')}" if fields and preset in registry else ""


def _kind(stored: dict[str, Any]) -> type | None:
    """The class behind a stored configuration, without its wrappers; None where it is not known here."""
    try:
        kind = type(core(from_json(stored)))
    except UsageError:  # a plug-in that is not loaded, or fields of another version
        return None
    return kind if kind.__module__ in sys.modules else None
