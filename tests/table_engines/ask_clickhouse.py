"""Ask the table of roles with ClickHouse: ask_clickhouse.py FOLDER QUESTION, in .cache/engines."""

import sys

import chdb


def main(folder: str, question: str) -> None:
    """Print the rows as CSV. A question names the table `roles`."""
    table = f"icebergLocal('{folder}/tidscope/roles')"
    print(chdb.query(question.format(roles=table), "CSV"), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
