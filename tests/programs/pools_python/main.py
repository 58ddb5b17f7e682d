"""A program whose pools are reported as they are; each line of its input gets an answer.

plain N        N jobs of 1 ms for an executor of concurrent.futures; every tenth fails
to_thread N    N calls of asyncio.to_thread, of 1 ms each
"""

import asyncio
import concurrent.futures
import sys
import time

from tidscope_agent import ThreadPoolExecutor, start, watch


def job(number: int) -> None:
    time.sleep(0.001)
    if number % 10 == 9:
        raise ValueError(number)


async def call(number: int) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(3, name="to_thread"))
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.001) for _ in range(number)))


def main() -> None:
    plain = concurrent.futures.ThreadPoolExecutor(2)
    watch(plain, "plain")
    agent = start()
    print(f"ready {agent.path}", flush=True)
    for line in sys.stdin:
        word, number = line.split()
        if word == "plain":
            concurrent.futures.wait([plain.submit(job, each) for each in range(int(number))])
        else:
            asyncio.run(call(int(number)))
        print(line.rstrip(), flush=True)


main()
