"""The web page: everything a store says, as one file that needs no network.

`collect` turns a store into plain data through the analysis functions; `render` puts the data, the styles and the
scripts of `assets/` into one HTML file. The scripts sort, filter, scale and draw; they compute no result.
"""
