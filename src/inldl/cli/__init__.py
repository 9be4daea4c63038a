"""The command line: each command calls one function of the library."""

import os
import sys


def main() -> None:
    """Run the command line; an error that a user can cause is one sentence, not a traceback."""
    from inldl.cli._app import app

    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("INLDL_DEBUG"):
            raise
        print(f"inldl: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("inldl: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
