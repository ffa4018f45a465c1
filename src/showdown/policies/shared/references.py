"""Where methods come from, as `showdown show` says it."""

PAPER = "Riquelme, Tucker, Snoek 2018, https://arxiv.org/abs/1802.09127"
