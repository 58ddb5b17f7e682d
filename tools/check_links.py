"""Refuse links in Markdown pages to files or headings that do not exist.

`python tools/check_links.py [ROOT]` names each, and exits 1 if there is any. Addresses of other
sites are not asked for.
"""

import sys

from command_line import check_tree
from links import broken

if __name__ == "__main__":
    sys.exit(check_tree(broken))
