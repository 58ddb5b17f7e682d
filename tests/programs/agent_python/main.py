"""A program with the Python agent, driven by lines at its standard input; each gets an answer.

ops N      do N jobs                  -> ops N
busy N     how many can work at once  -> busy M
restart    ask for a new search       -> restart
close      end the agent              -> close
"""

import os
import sys
import threading
from concurrent.futures import wait

from tidscope_agent import Agent, NoSocketFolderError, ThreadPoolExecutor, start


def busy(pool: ThreadPoolExecutor, number: int) -> int:
    """The most jobs that ran at once; 0 if never ``number`` of them did."""
    together = threading.Barrier(number)
    lock = threading.Lock()
    running = most = 0

    def job() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            together.wait(120)
        finally:
            with lock:
                running -= 1

    jobs = [pool.submit(job) for _ in range(4 * number)]
    wait(jobs)
    return 0 if any(done.exception() for done in jobs) else most


def serve(pool: ThreadPoolExecutor, agent: Agent) -> None:
    """Do what the lines say."""
    for line in sys.stdin:
        word, _, argument = line.strip().partition(" ")
        if word == "ops":
            wait([pool.submit(int) for _ in range(int(argument))])
            print("ops", argument, flush=True)
        elif word == "busy":
            print("busy", busy(pool, int(argument)), flush=True)
        elif word == "restart":
            agent.restart_search()
            print("restart", flush=True)
        elif word == "close":
            agent.close()
            print("close", flush=True)


def main() -> None:
    """Run until the end of the input."""
    if user := int(os.environ["AGENT_USER"] or 0):
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    pool = ThreadPoolExecutor(3)
    try:
        agent = start(pool, upper=8)
    except NoSocketFolderError as error:
        print("failed:", error, flush=True)
        return
    print("ready", agent.path, flush=True)
    serve(pool, agent)


if __name__ == "__main__":
    main()
