"""From a table to an answer: play a sensible set of methods on it, drop what is clearly behind, and say which to use.

    import showdown as sd
    found = sd.recommend("customers.csv", label="bought", budget="2m")
    print(found.sentence)

The command is `showdown recommend FILE --label COLUMN`. Everything is played through an ordinary store, so `showdown
table`, `showdown report` and `showdown compare` work on its folder, and a second call continues where one stopped.
"""

from showdown.recommendation.answer import Recommendation as Recommendation
from showdown.recommendation.recommend import recommend as recommend
