"""The paper's experiments that compute something to draw, one file each.

Every study has a function `run(settings)` that returns plain data in a small dataclass. A study draws nothing and
prints nothing: the figures in `report/figures` draw what it returned.
"""
