"""Data files: what there is (`catalogue`), where it lies (`locate`), how it is fetched and checked, and parsed tables.

Nothing here runs at import, nothing downloads unless `fetch` is called, and nothing is parsed before its content has
the sha256 that the catalogue states.
"""
