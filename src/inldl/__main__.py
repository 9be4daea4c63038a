"""``python -m inldl`` is the command line."""

import sys

if __name__ == "__main__":
    # Python looks in the working folder first, and would run a random.py that lies there in place
    # of its own. At the end of the path, a method of the user is still found in it.
    if not sys.flags.safe_path:
        sys.path.append(sys.path.pop(0))

    from inldl.cli import main

    main()
