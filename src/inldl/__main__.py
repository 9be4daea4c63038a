"""``python -m inldl`` is the command line."""

from inldl.cli import main

if __name__ == "__main__":
    main()
