"""One file per engine; see `bench/engine.py`."""
