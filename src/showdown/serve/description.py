"""The description of the server: OpenAPI for programs, and a page of plain HTML for people.

The page has no scripts and needs nothing from elsewhere: Swagger UI is a megabyte of script from a CDN, which a service
that is shut off from the network could not show. Whoever wants it can point it at /openapi.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

from pydantic.json_schema import models_json_schema

from showdown import __version__
from showdown.agent import Agent
from showdown.serve.bodies import Body, Mistake
from showdown.serve.examples import commands

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "pre,code{background:#f3f3f3;padding:.1rem .3rem}pre{padding:1rem;overflow-x:auto}"
    "table{border-collapse:collapse}th,td{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}"
)
SENTENCES = {
    400: "The request is not whole.",
    401: "The token is missing or wrong.",
    404: "No such decision waits for a reward.",
    405: "The path takes another method; the header Allow says which.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The Host header has a name that is not the server's.",
    422: "The body is not as described here; the sentence says what is wrong.",
    503: "Nothing was changed: try again later. Too many requests wait, or the journal cannot be written.",
}
SHOWN = 100  # actions on the page
WATCHED = ("refused_updates", "refused_refits", "refused_laws", "degenerate_laws", "ties", "dead_features")


class Route(NamedTuple):
    """What can be asked at a path: with a body it is a POST, without one a GET."""

    name: str
    summary: str
    body: type[Body] | None
    answer: type[Body] | None  # None is text
    description: str = ""
    is_open: bool = False  # needs no token, and says nothing that a client has sent
    is_listed: bool = True  # among the paths of the description

    @property
    def methods(self) -> tuple[str, ...]:
        return ("POST",) if self.body is not None else ("GET", "HEAD")

    @property
    def mistakes(self) -> tuple[int, ...]:
        if self.is_open:
            return (405, 421)
        return (401, 405) if self.body is None else (400, 401, 404, 405, 408, 413, 415, 422, 503)


def openapi(paths: Iterable[Route]) -> dict[str, Any]:
    """The OpenAPI description of these paths."""
    listed = [path for path in paths if path.is_listed]
    kinds = [kind for path in listed for kind in (path.body, path.answer, Mistake) if kind is not None]
    _, schemas = models_json_schema(
        [(kind, "validation") for kind in dict.fromkeys(kinds)], ref_template="#/components/schemas/{model}"
    )
    security = {"HTTPBearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "showdown serve", "version": __version__},
        "paths": {path.name: {path.methods[0].lower(): _operation(path)} for path in listed},
        "components": {"schemas": schemas["$defs"], "securitySchemes": security},
    }


def _operation(path: Route) -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}} if path.answer is None else _content(path.answer)
    described: dict[str, Any] = {
        "summary": path.summary,
        "description": path.description,
        "operationId": path.name.strip("/").replace("/", "_"),
        "responses": {"200": {"description": "It was done.", "content": content}},
    }
    for status in path.mistakes:
        described["responses"][str(status)] = {"description": SENTENCES[status], "content": _content(Mistake)}
    if path.body is not None:
        described["requestBody"] = {"required": True, "content": _content(path.body)}
    if not path.is_open:
        described["security"] = [{"HTTPBearer": []}]
    return described


def _content(kind: type[Body]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}


def page(schema: dict[str, Any], counts: Mapping[str, Any], agent: Agent, address: str) -> str:
    """The page at / and /docs: what this agent decides about, what can be asked, and what was unusual so far."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>showdown serve</title>",
        f"<style>{STYLE}</style></head><body><h1>showdown serve {escape(schema['info']['version'])}</h1>",
        "<p>Requests and answers are JSON; errors are <code>{&quot;error&quot;: &quot;one sentence&quot;}</code>. "
        "The description for programs is at <a href='/openapi.json'>/openapi.json</a>.</p>",
        *_about(agent),
        f"<pre>{escape(commands(agent, address))}</pre>",
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts += _section(schema, f"{method.upper()} {path}", operation)
    rows = [
        f"<tr><td>{name.replace('_', ' ')}</td><td>{json.dumps(counts[name])}</td></tr>"
        for name in WATCHED
        if name in counts
    ]
    parts.append(f"<h2>Unusual so far</h2><p>What each says: docs/deploy.md.</p><table>{''.join(rows)}</table>")
    return "\n".join([*parts, "</body></html>"])


def _about(agent: Agent) -> Iterable[str]:
    """The actions and columns of this agent."""
    encoder, spec = agent.encoder, agent.spec
    listed = [("Actions", [str(name) for name in agent.actions[:SHOWN]])]
    if encoder is None:
        of_each = f", and each action of a decision has {spec.action_dim}" if spec.action_dim else ""
        yield f"<p>Contexts are lists of {spec.context_dim} numbers{of_each}.</p>"
    else:
        listed.append(("Columns of a context", list(encoder.columns)))
        if encoder.of_actions is not None:
            listed.append(("Features of an action", list(encoder.of_actions.columns)))
    for title, names in listed:
        more = " and more" if names is listed[0][1] and len(agent.actions) > SHOWN else ""
        yield f"<p>{title}: {', '.join(f'<code>{escape(name)}</code>' for name in names) or 'none'}{more}. </p>"


def _section(schema: dict[str, Any], name: str, operation: dict[str, Any]) -> Iterable[str]:
    yield f"<h2>{escape(name)}</h2><p>{escape(operation['summary'])}. {escape(operation.get('description', ''))}</p>"
    if "requestBody" in operation:
        yield "<h3>Body</h3>" + _fields(schema, operation["requestBody"])
    answer = operation["responses"]["200"]
    if "application/json" in answer.get("content", {}):
        yield "<h3>Answer</h3>" + _fields(schema, answer)


def _fields(schema: dict[str, Any], content: dict[str, Any]) -> str:
    about = _resolved(schema, content["content"]["application/json"]["schema"])
    needed = about.get("required", ())
    rows = [
        f"<tr><td><code>{escape(name)}</code></td><td>{'' if name in needed else 'optional'}</td>"
        f"<td><code>{escape(_kind(schema, field))}</code></td><td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in about["properties"].items()
    ]
    return f"<table>{''.join(rows)}</table>"


def _resolved(schema: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    return schema["components"]["schemas"][about["$ref"].rsplit("/", 1)[1]] if "$ref" in about else about


def _kind(schema: dict[str, Any], field: dict[str, Any]) -> str:
    """The type of a field, in a word or as the fields of what it holds."""
    if "anyOf" in field:
        kinds = [_kind(schema, one) for one in field["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in field:
        inner = _resolved(schema, field)["properties"]
        return json.dumps({name: _kind(schema, one) for name, one in inner.items()}).replace('"', "")
    if field.get("type") == "array":
        return f"list of {_kind(schema, field.get('items', {})) or 'values'}"
    return field.get("type", "")
