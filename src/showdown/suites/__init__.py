"""The shipped suites, one TOML file each."""
