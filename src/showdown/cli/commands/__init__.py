"""The commands, one file each: every module here defines `register(app)` and is found without being listed.

None imports JAX or pandas before its command is called, so that help is quick. Commands do not import each other.
"""
