"""`python -m showdown` is the command `showdown`."""

from showdown.cli.main import main

if __name__ == "__main__":
    main()
