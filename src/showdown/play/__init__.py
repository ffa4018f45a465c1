"""How a policy plays a problem, from one block of one trial up to batches of trials.

`block` is the inner loop and the only place that says which random key is used where; `segment` plays many blocks and
measures them; `over_trials` does that for a batch of trials and `programs` compiles it, for one device or several
(`devices`); `room` says how many trials fit in memory; `batches` plays them all; `book` adds up on the host what was
measured; `many` plays several policies at once.
`showdown.play.simulate` and `showdown.agent` are the doors to all this.
"""
