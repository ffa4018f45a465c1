"""An agent behind HTTP: `showdown serve FILE`. docs/deploy.md says how to use it."""
