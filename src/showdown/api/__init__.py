"""What `import showdown as sd` offers, and what the command line is a layer over: one file per call.

`own.py` turns what a caller hands in (names, values, DataFrames, files, objects of their own) into policies and
problems; `play.py` plays a plan; `results.py` is what comes back. Names are imported when they are first asked for; see
`showdown/__init__.py`.
"""
