"""`python -m tidscope_backend` is the same as `tidscope`."""

import sys

from tidscope_backend.cli import main

if __name__ == "__main__":
    sys.exit(main())
