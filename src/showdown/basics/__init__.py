"""What every other package may use and none of it knows: errors, names, files, folders."""
