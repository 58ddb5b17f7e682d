"""Lets tidscope steer a thread pool of this program.

    from tidscope_agent import ThreadPoolExecutor, start

    pool = ThreadPoolExecutor(8)
    agent = start(pool, upper=64)

The pool is used like the one of concurrent.futures.
"""

from tidscope_agent.agent import Agent, start
from tidscope_agent.pool import ThreadPoolExecutor
from tidscope_agent.protocol import VERSION
from tidscope_agent.socket_folder import NoSocketFolderError
from tidscope_agent.watching import watch

__all__ = ["VERSION", "Agent", "NoSocketFolderError", "ThreadPoolExecutor", "start", "watch"]
