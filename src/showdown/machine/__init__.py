"""The cores and the memory of this machine; in a container those of its cgroups."""
