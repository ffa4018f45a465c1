"""The page at /docs: the OpenAPI description as plain HTML, without scripts and without anything from elsewhere.

Swagger UI, which FastAPI would use, is a megabyte of script from a CDN; a service that is shut off from the network
could not show it. Whoever wants it can point it at /openapi.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
EXAMPLE = """curl -X POST http://127.0.0.1:8000/choose -H "Authorization: Bearer $TOKEN" \\
     -H "Content-Type: application/json" -d '{"context": {"age": 41, "region": "north"}}'"""
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "pre,code{background:#f3f3f3;padding:.1rem .3rem}pre{padding:1rem;overflow-x:auto}"
    "table{border-collapse:collapse}th,td{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}"
)


def written(schema: dict[str, Any]) -> str:
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>showdown serve</title>",
        f"<style>{STYLE}</style></head><body><h1>showdown serve {escape(schema['info']['version'])}</h1>",
        "<p>Requests and answers are JSON; errors are <code>{&quot;error&quot;: &quot;one sentence&quot;}</code>. "
        "The description for programs is at <a href='/openapi.json'>/openapi.json</a>.</p>",
        f"<pre>{escape(EXAMPLE)}</pre>",
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts += _operation(schema, f"{method.upper()} {path}", operation)
    return "\n".join([*parts, "</body></html>"])


def _operation(schema: dict[str, Any], name: str, operation: dict[str, Any]) -> Iterable[str]:
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
