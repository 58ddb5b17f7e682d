"""`python -m tidscope_collector`: the collector's command line, loaded as a whole."""

import sys

from tidscope_wire.loading import loading

if __name__ == "__main__":
    with loading():
        from tidscope_collector.command_line import main
    sys.exit(main())
