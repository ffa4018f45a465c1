"""The errors a user can meet, each carrying one clear sentence."""

import json
import zipfile


class ShowdownError(Exception):
    """Base of every error this package raises on purpose; its text is meant to be read by a person."""


class ShowdownWarning(UserWarning):
    """Something that a caller of the library should know, and that the command line writes to stderr."""


class UsageError(ShowdownError):
    """The request itself is wrong: an unknown name, a bad override, an impossible size."""


class TooLargeError(UsageError):
    """It needs more memory than is free; the text says how much, and where that is known what would fit."""


class MissingDataError(ShowdownError):
    """A problem needs files that are not on this machine; the text says how to get them."""


class NoFileNamedError(MissingDataError, UsageError):
    """A problem that is made of a user's file was asked for without one: wrong as a request, not merely absent."""


class DivergedError(ShowdownError):
    """A policy's state stopped being finite, so its numbers mean nothing."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: to end as Ctrl-C does, with its own exit code."""


class InvalidProblemError(ShowdownError):
    """A problem produced a context or a reward that is not a finite number."""


def why(error: BaseException) -> str:
    """What is wrong with a file, in words, from what Python raised while it was read: never the name of a class."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text"
    if isinstance(error, zipfile.BadZipFile) or "pickle" in str(error):  # so NumPy takes whatever it does not know
        return "it is damaged, or was never saved by showdown"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, KeyError) and error.args:
        return f"it lacks {error.args[0]!r}"
    if isinstance(error, TypeError | AttributeError | IndexError):
        return "its parts are not of the kinds that they should be"
    return str(error).split("\n")[0] or "it is not what it should be"
