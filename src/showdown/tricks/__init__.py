"""What makes programs faster and no number different, each in a file that says what it buys.

`SHOWDOWN_PLAIN=1` turns all of them off.
"""
