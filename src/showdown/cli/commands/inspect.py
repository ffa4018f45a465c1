"""`showdown inspect FILE`: what would be understood of a table of your own, before anything is played on it."""

from __future__ import annotations

import dataclasses
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.basics.text import one_line
from showdown.cli import console
from showdown.cli.inputs import (
    Categorical,
    Costs,
    Delimiter,
    Features,
    File,
    Header,
    Ignore,
    Keep,
    Label,
    Payoff,
    RewardMatrix,
    Rewards,
)

if TYPE_CHECKING:
    import pandas as pd

    from showdown.data.bandit_table import BanditTable

SHOWN_COLUMNS = 60  # of a wide table; --json has them all
SHOWN_ACTIONS = 20
SHOWN_LABELS = 8


def register(app: typer.Typer) -> None:
    app.command("inspect", epilog="Example: showdown inspect customers.csv --label bought")(inspect_command)


def inspect_command(
    file: File,
    label: Label = "",
    rewards: Rewards = "",
    reward_matrix: RewardMatrix = "",
    costs: Costs = "",
    ignore: Ignore = "",
    categorical: Categorical = "",
    keep: Keep = "",
    features: Features = "",
    payoff: Payoff = "",
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print what is understood of a table of your own.

    Rows, context, actions, class balance, which columns were dropped and why.
    """
    from showdown.data.bandit_table import as_bandit_table
    from showdown.data.read_table import read_table

    options = {
        "label": label,
        "rewards": rewards,
        "costs": costs,
        "ignore": ignore,
        "categorical": categorical,
        "keep": keep,
        "features": features,
        "payoff": payoff,
    }
    frame = read_table(file, delimiter, header)  # type: ignore[arg-type]
    matrix = read_table(reward_matrix).table if reward_matrix else None
    found = as_bandit_table(frame.table, reward_matrix=matrix, **options)
    fields = {"path": str(file), **options, "reward_matrix": reward_matrix, "delimiter": delimiter, "header": header}
    about = _describe(file, frame.written, frame.table, found, fields)
    if as_json:
        console.data_json(about)
    else:
        console.data(_text(about))


def _describe(
    file: Path, written: str, table: pd.DataFrame, found: BanditTable, fields: dict[str, str]
) -> dict[str, Any]:
    import numpy as np

    from showdown.data.choose_columns import log_played_as_labels, possible_labels

    log = None if fields["rewards"] else log_played_as_labels(table, fields["label"], fields["ignore"], fields["keep"])
    about: dict[str, Any] = {
        "file": str(file),
        "written": written,
        "rows": found.rows,
        "rows_left_out": found.rows_left_out,
        "context_dim": found.context_dim,
        "num_actions": len(found.actions),
        "missing": sum(column.missing for column in found.columns),
        "columns": [dataclasses.asdict(column) for column in found.columns],
        "context_names": found.context_names,
        "feature_names": found.features.names if found.features else (),
        "possible_features": {} if found.features else _possible_features(table, found),
        "warnings": found.warnings,
        "log": log._asdict() if log else None,
    }
    if not found.actions:
        return {**about, "possible_labels": possible_labels(table)}
    shares = np.bincount(found.labels, minlength=len(found.payoffs)) / found.rows  # (classes,)
    payoffs = found.payoffs.astype(np.float64)
    highest = payoffs.max(axis=1)  # (classes,)
    means, best = shares @ payoffs, shares @ (payoffs == highest[:, None])
    return {
        **about,
        "classes": found.classes,
        "actions": [
            {"action": name, "mean_reward": float(mean), "best_share": float(share)}
            for name, mean, share in zip(found.actions, means, best, strict=True)
        ],
        "mean_best_reward": float(shares @ highest),
        "mean_uniform_reward": float(means.mean()),
        "problem": _problem_name(fields),
    }


def _possible_features(table: pd.DataFrame, found: BanditTable) -> dict[str, list[str]]:
    """Stems of columns that look like features of each action, by the column of the choice; at most one choice."""
    from showdown.data.action_features import find_stems
    from showdown.data.choose_columns import possible_labels
    from showdown.data.payoffs import classes_of

    names = [str(name) for name in table.columns]
    if found.actions:
        own = next((column.name for column in found.columns if column.treatment == "label"), "")
        used = {column.name for column in found.columns if column.treatment not in ("label", "reward", "dropped")}
        constant = {column.name for column in found.columns if column.note.startswith("constant: ")}  # for one action
        stems = find_stems([name for name in names if name in used | constant], found.actions)
        told = [stem for stem, columns in stems.items() if not used.isdisjoint(columns)]
        return {own: told} if told else {}
    for label in list(possible_labels(table))[:SHOWN_LABELS]:
        stems = find_stems([name for name in names if name != label], classes_of(table[label])[1])
        if stems:
            return {label: list(stems)}
    return {}


def _problem_name(fields: dict[str, str]) -> str | None:
    """What to call this table on the command line, or None where a name cannot be written so."""
    from showdown.basics.errors import UsageError
    from showdown.config.registry import parse_name

    given = {name: item for name, item in fields.items() if item and item != "auto"}
    name = f"table[{','.join(f'{field}={item}' for field, item in given.items())}]"
    try:
        return name if parse_name(name) == ("table", given) else None
    except UsageError:
        return None


def _text(about: dict[str, Any]) -> str:
    kept = [column for column in about["columns"] if column["treatment"] != "dropped"]
    dropped = [column for column in about["columns"] if column["treatment"] == "dropped"]
    used = sum(column["dims"] > 0 for column in kept)
    left_out = f"; {about['rows_left_out']:,} more left out without a label" if about["rows_left_out"] else ""
    lines = [
        f"{about['file']}: {about['written']}",
        f"rows               {about['rows']:,}{left_out}",
        f"context dimension  {about['context_dim']:,}, from {used:,} column{'s' if used > 1 else ''}"
        + ("" if about["num_actions"] else " (the label not yet taken out)"),
        f"actions            {about['num_actions'] or 'not known: name a label or reward columns'}",
        *([f"features           {len(about['feature_names'])} of each action"] if about["feature_names"] else []),
        f"missing values     {about['missing']:,}",
    ]
    if about["num_actions"]:
        lines += ["", *_actions(about)]
    lines += ["", *_grid([("column", "taken as", "dims", "missing", ""), *map(_column_row, kept[:SHOWN_COLUMNS])])]
    if dropped:
        reasons = [(column["name"], column["note"]) for column in dropped[:SHOWN_COLUMNS]]
        lines += ["", *_grid([("dropped", "because"), *reasons])]
    if max(len(kept), len(dropped)) > SHOWN_COLUMNS:
        lines.append(f"(only {SHOWN_COLUMNS} columns of each kind shown; --json has all {len(about['columns']):,})")
    if about["warnings"]:
        lines += ["", "warnings:", *(f"- {sentence}" for sentence in about["warnings"])]
    return "\n".join(map(one_line, [*lines, "", *_next(about)]))


def _column_row(column: dict[str, Any]) -> tuple[str, ...]:
    dims = str(column["dims"]) if column["dims"] else ""
    return column["name"], column["treatment"], dims, f"{column['missing']:,}", column["note"]


def _actions(about: dict[str, Any]) -> list[str]:
    """The balance of the classes, and what each action pays on average."""
    lines: list[str] = []
    rows = about["rows"]
    if about["classes"]:
        commonest = sorted(about["classes"].items(), key=lambda item: -item[1])
        shown = [(name, f"{count:,}", f"{count / rows:.1%}") for name, count in commonest[:SHOWN_ACTIONS]]
        lines += [*_grid([("class", "rows", "share"), *shown]), *_more(len(commonest)), ""]
    payers = sorted(about["actions"], key=lambda action: -action["mean_reward"])
    plain = all(item["mean_reward"] == item["best_share"] for item in payers)  # 1 where right, 0 where not
    if not (about["classes"] and plain):
        shown = [(item["action"], f"{item['mean_reward']:.4g}", f"{item['best_share']:.1%}") for item in payers]
        lines += [*_grid([("action", "mean reward", "best in"), *shown[:SHOWN_ACTIONS]]), *_more(len(payers)), ""]
    best, chance = about["mean_best_reward"], about["mean_uniform_reward"]
    always = f"always taking {payers[0]['action']!r} {payers[0]['mean_reward']:.4g}"
    return [*lines, f"mean reward of a step: at best {best:.4g}, {always}, by chance {chance:.4g}"]


def _more(count: int) -> list[str]:
    return [f"(and {count - SHOWN_ACTIONS:,} more; see --json)"] if count > SHOWN_ACTIONS else []


def _next(about: dict[str, Any]) -> list[str]:
    """What to type now."""
    if about["log"]:
        from showdown.data.choose_columns import LogColumns

        log = LogColumns(**about["log"])
        return [
            "this looks like a log of decisions (action, reward, propensity) rather than labelled rows",
            f"(if it is none, say --keep {shlex.quote(log.propensity)}):",
            f"  showdown evaluate {shlex.quote(about['file'])} {log.options()}",
        ]
    hint = [
        "columns look like features of each action; to play them as such, add:",
        *(
            " " + (f" --label {shlex.quote(label)}" if label else "") + f" --features {shlex.quote('+'.join(stems))}"
            for label, stems in about["possible_features"].items()
        ),
    ]
    return [*(hint if about["possible_features"] else []), *_commands(about)]


def _commands(about: dict[str, Any]) -> list[str]:
    if about["num_actions"]:
        name = about["problem"]
        if name is None:
            why = "its path or a column holds a comma, a bracket or a control character"
            return [f"{why}: play it with showdown.problems.table(...) in Python"]
        return [
            f"which method:  showdown recommend {_as_options(name)}",
            f"play it:  showdown run --problems {shlex.quote(name)}",
        ]
    likely = list(about["possible_labels"].items())[:SHOWN_LABELS]
    if not likely:
        return ["no column looks like a label; name reward columns with --rewards, or a label with --label"]
    return ["could be the label:", *(f"  --label {shlex.quote(name)}  ({classes} classes)" for name, classes in likely)]


def _as_options(problem: str) -> str:
    """table[path=FILE,label=COLUMN] as the arguments of `recommend`: its options have the names of the fields."""
    from showdown.config.registry import parse_name

    fields = dict(parse_name(problem)[1])
    file = shlex.quote(str(fields.pop("path")))
    return " ".join([file, *(f"--{name.replace('_', '-')} {shlex.quote(str(item))}" for name, item in fields.items())])


def _grid(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows in aligned columns; numbers are aligned to the right."""
    rows = [tuple(map(one_line, row)) for row in rows]
    widths = [max(len(row[position]) for row in rows) for position in range(len(rows[0]))]
    figures = [all(re.fullmatch(r"[-+\d.,%e]*", row[position]) for row in rows[1:]) for position in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(row, widths, figures, strict=True)
        ).rstrip()
        for row in rows
    ]
