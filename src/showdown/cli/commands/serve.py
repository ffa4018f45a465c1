"""`showdown serve FILE`: an agent behind HTTP, on this machine unless it is said otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from showdown.basics.errors import ShowdownError, UsageError
from showdown.cli import console
from showdown.cli.inputs import Load, load_files

TOKEN = "SHOWDOWN_TOKEN"
SHORTEST = 16  # characters of a token


def register(app: typer.Typer) -> None:
    app.command("serve")(serve_command)


def serve_command(
    file: Annotated[Path, typer.Argument(help="A saved agent, or the agent.json that `showdown recommend` wrote.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help=f"A file with the token; default: ${TOKEN}, or one is made up and printed.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Where it is saved, and read again; default: FILE, or FILE with .npz.")
    ] = None,
    save_every: Annotated[float, typer.Option(help="Seconds between saves.")] = 60.0,
    journal: Annotated[Path | None, typer.Option(help="Write every decision and reward to this file at once.")] = None,
    background: Annotated[bool, typer.Option(help="Refit in a thread while requests are answered.")] = True,
    rows: Annotated[int, typer.Option(help="Make room for so many observations at the start.")] = 0,
    remember: Annotated[int, typer.Option(help="Decisions of a new agent that may wait for a reward.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The seed of a new agent.")] = 0,
    max_body: Annotated[int, typer.Option(help="The largest body of a request, in bytes.")] = 1 << 20,
    max_batch: Annotated[int, typer.Option(help="The most decisions or rewards in one request.")] = 1000,
    load: Load = None,
) -> None:
    """Answer requests for decisions over HTTP, learn from rewards, and save when stopped (Ctrl-C or SIGTERM)."""
    load_files(load)
    token, made_up = _token(token_file)
    if save_every <= 0 or max_body < 1 or max_batch < 1 or rows < 0:
        raise UsageError("--save-every, --max-body and --max-batch must be greater than 0, and --rows at least 0")
    try:
        from showdown.serve.app import build
        from showdown.serve.run import address_of, listening, run
    except ImportError as error:
        raise UsageError(f"serve needs FastAPI and uvicorn: pip install 'bandit-showdown[serve]' ({error})") from None
    from showdown.agent import compute_in_one_thread
    from showdown.basics.locks import LOCK, locked
    from showdown.serve.limits import Limits
    from showdown.serve.open_agent import default_save, open_agent, policy_name
    from showdown.serve.service import Service

    kept = save or default_save(file)
    if not kept.parent.is_dir():
        raise UsageError(f"there is no folder {kept.parent} to save in")
    with locked(kept.with_name(f"{LOCK}{kept.name}"), wait=False) as alone, listening(host, port) as listener:
        if not alone:
            raise UsageError(f"another process serves {kept} already")
        if background:
            compute_in_one_thread()
        new = {"remember": remember, "seed": seed}
        agent = open_agent(file, kept, journal=journal, background=background, new=new)
        agent.warm(rows=rows)
        limits, name = Limits(body_bytes=max_body, batch=max_batch), policy_name(agent)
        service = Service(agent, name, kept, save_every=save_every, limits=limits, say=console.warn)
        console.data(f"{name} at {address_of(listener)} (described at /docs); it is saved to {kept}")
        if made_up:
            console.data(f"token: {token}")
        console.finish()
        run(build(service, token), listener, limits)
        if service.not_saved:
            raise ShowdownError(f"stopped after {agent.decisions} decisions, and not saved: {service.not_saved}")
        console.data(f"stopped after {agent.decisions} decisions; saved to {kept}")


def _token(file: Path | None) -> tuple[str, bool]:
    """The token that clients must send, and whether it was made up here."""
    import secrets

    from showdown.basics.files import read_plain

    if file is not None:
        try:
            token = read_plain(file, 1 << 16).decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read a token from {file}: {getattr(error, 'strerror', 'not ASCII')}") from None
    else:
        token = os.environ.get(TOKEN, "")
        if not token:
            return secrets.token_urlsafe(32), True
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"a token has at least {SHORTEST} printable ASCII characters and no spaces")
    return token, False
