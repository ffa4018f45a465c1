"""`showdown serve FILE`: an agent behind HTTP, on this machine unless it is said otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from showdown.basics.errors import ShowdownError, UsageError
from showdown.cli import console
from showdown.cli.inputs import Load, load_files

TOKEN = "SHOWDOWN_TOKEN"
SHORTEST = 16  # characters of a token


def register(app: typer.Typer) -> None:
    app.command("serve", epilog="Example: showdown serve recommendation/agent.json --port 8000")(serve_command)


File = Annotated[Path, typer.Argument(help="A saved agent, or the agent.json that `showdown recommend` wrote.")]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
Port = Annotated[int, typer.Option(help="The port; 0 takes a free one.")]
TokenFile = Annotated[
    Path | None, typer.Option(help=f"A file with the token; default: ${TOKEN}, or one is made up and printed.")
]
Save = Annotated[Path | None, typer.Option(help="Where it is saved, and read again; default: FILE, or FILE with .npz.")]
SaveEvery = Annotated[float, typer.Option(help="Seconds between saves.")]
JournalFile = Annotated[Path | None, typer.Option(help="Write every decision and reward to this file at once.")]
ArchiveJournal = Annotated[bool, typer.Option(help="Keep parts of the journal that a save made needless.")]
AcceptLoss = Annotated[bool, typer.Option(help="Go on where the journal is damaged, and say what is lost.")]
AllowHost = Annotated[
    list[str] | None, typer.Option(help="A name that clients may use for this server on pages without a token.")
]
InBackground = Annotated[bool, typer.Option(help="Refit in a thread while requests are answered.")]
Rows = Annotated[int, typer.Option(help="Make room for so many observations at the start.")]
LastRewards = Annotated[
    int, typer.Option(help="Learn from the last N rewards alone: for a world that changes; 0: as the agent did before.")
]
Warm = Annotated[Path | None, typer.Option(help="A table or a log that a new agent learns from before it decides.")]
Remember = Annotated[int, typer.Option(help="Decisions of a new agent that may wait for a reward.")]
Seed = Annotated[int, typer.Option(help="The seed of a new agent.")]
MaxBody = Annotated[int, typer.Option(help="The largest body of a request, in bytes.")]
MaxActions = Annotated[int, typer.Option(help="The most actions that there may be when one is added.")]
Room = Annotated[int, typer.Option(help="Actions that can be added to a new agent before it compiles again.")]
MaxBatch = Annotated[int, typer.Option(help="The most decisions or rewards in one request.")]


def serve_command(
    file: File,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    save: Save = None,
    save_every: SaveEvery = 60.0,
    journal: JournalFile = None,
    archive_journal: ArchiveJournal = False,
    accept_loss: AcceptLoss = False,
    allow_host: AllowHost = None,
    background: InBackground = True,
    rows: Rows = 0,
    window: LastRewards = 0,
    warm: Warm = None,
    room: Room = 0,
    remember: Remember = 10_000,
    seed: Seed = 0,
    max_body: MaxBody = 1 << 20,
    max_batch: MaxBatch = 1000,
    max_actions: MaxActions = 1000,
    load: Load = None,
) -> None:
    """Decide over HTTP and learn from the rewards.

    The agent is saved now and then, and when the server is stopped (Ctrl-C or SIGTERM).
    """
    load_files(load)
    token, made_up = _token(token_file)
    if not save_every > 0 or max_body < 1 or max_batch < 1 or rows < 0 or window < 0:
        raise UsageError("--save-every, --max-body, --max-batch must be greater than 0, --rows and --window at least 0")
    try:
        from showdown.agent import Window
        from showdown.serve import run as server
        from showdown.serve.app import App
        from showdown.serve.http import RequestLimits
        from showdown.serve.service import Service
    except ImportError as error:
        raise UsageError(f"serve needs httptools and others: pip install 'bandit-showdown[serve]' ({error})") from None
    kept = save or server.default_save(file)
    with server.alone_with(kept) as is_alone, server.listening(host, port) as listener:
        options: dict[str, Any] = {"journal": journal, "archive_journal": archive_journal, "accept_loss": accept_loss}
        options |= {"background": background, "history": Window(window) if window else None}
        new = {"remember": remember, "seed": seed, "room": room}
        agent = server.open_agent(file, kept, new=new, rows=rows, warm=warm, **options)
        for note in agent.notes:
            console.warn(note)
        limits = RequestLimits(body_bytes=max_body, batch=max_batch, actions=max_actions)
        name = server.policy_name(agent)
        service = Service(agent, name, kept, save_every=save_every, limits=limits, say=console.warn, is_alone=is_alone)
        console.data(f"{name} at {server.address_of(listener)} (described at /docs); it is saved to {kept}")
        if made_up:
            console.data(f"token: {token}")
        console.finish()
        app = App(service, token, [host, *(allow_host or [])], server.shown_address(listener))
        server.run(app, service, listener)
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
