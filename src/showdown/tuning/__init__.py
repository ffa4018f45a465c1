"""Searching for good values of a policy's fields: `showdown tune` and the paper's protocol of tuning on one problem.

`asked` turns names into a `request`; `space` says what may vary; `samplers` propose candidates; `population` plays them
together and stores them as normal cells; `evaluate` gives up the worse half of a batch early; `history` is what has
been proposed and measured so far; `final` compares the best few on fresh episodes; `tune` is the loop and `files`
writes what came of it. `protocol` tunes on one problem and reports on all; `protocol_words` says what came of that.
"""
