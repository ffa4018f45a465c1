"""Data files: the catalogue of data sets, where they are, how they are fetched, checked, parsed and cached.

Also how a user's own table is read (`read_table`) and made into a bandit problem (`bandit_table`). Nothing here runs at
import, nothing downloads unless `fetch` is called, and nothing is parsed before its content has the sha256 that the
catalogue states.
"""
