"""Searching for good values of a policy's fields: `showdown tune` and the paper's protocol of tuning on one problem.

`request` says what is asked for and `space` what may vary; `samplers` propose candidates; `play_candidates` plays them
together and stores them as normal cells; `evaluate` gives up the worse half of a batch early; `history` is what has
been proposed and measured so far; `fresh_choice` compares the best few on fresh episodes; `tune` is the loop and
`files` writes what came of it. `tuned_study` tunes on one problem and reports on all.
"""
