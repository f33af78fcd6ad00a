"""Waiting: the same steps under both drivers, things lent in order to threads and tasks, nothing left with a loop."""

import asyncio
import os
import threading
import time

import pytest

from sandbox import waiting
from sandbox.waiting import Lender, Wait, adrive, drive


def echo(reader, writer, times):
    """Steps that write a byte to themselves and read it, `times` times over, and count how often nothing came."""
    late = 0
    for number in range(times):
        if number % 3 == 0:
            late += not (yield Wait((reader,), (), 0.01))
        os.write(writer, b"x")
        ready = yield Wait((reader,), (), 5.0)
        assert ready == [reader]
        assert os.read(reader, 10) == b"x"
    return late


@pytest.fixture
def pipes():
    made = [os.pipe() for _ in range(6)]
    yield made
    for pair in made:
        for number in pair:
            os.close(number)


def test_both_drivers_take_the_same_steps(pipes):
    async def together():
        return await asyncio.gather(*[adrive(echo(*pair, 9)) for pair in pipes])

    assert drive(echo(*pipes[0], 9)) == 3
    assert asyncio.run(together()) == [3] * 6
    assert waiting._hubs == {}


def test_an_error_in_a_step_reaches_who_awaits_it_and_nobody_else(pipes):
    def fails():
        yield Wait((pipes[0][0],), (), 0.01)
        raise KeyError("mine")

    async def together():
        return await asyncio.gather(adrive(fails()), adrive(echo(*pipes[1], 3)), return_exceptions=True)

    error, fine = asyncio.run(together())
    assert isinstance(error, KeyError)
    assert fine == 1
    assert waiting._hubs == {}


def test_cancelling_closes_the_steps_and_leaves_nothing(pipes):
    closed = []

    def waits(number):
        try:
            yield Wait((pipes[number][0],), (), 60.0)
        finally:
            closed.append(number)

    async def main():
        tasks = [asyncio.create_task(adrive(waits(number))) for number in range(6)]
        await asyncio.sleep(0.01)
        for task in tasks[:5]:
            task.cancel()
        os.write(pipes[5][1], b"x")
        return await asyncio.gather(*tasks, return_exceptions=True)

    before = len(os.listdir("/dev/fd"))
    ended = asyncio.run(main())
    assert [type(end) for end in ended] == [asyncio.CancelledError] * 5 + [type(None)]
    assert sorted(closed) == list(range(6))
    assert waiting._hubs == {}
    assert len(os.listdir("/dev/fd")) == before


def test_a_descriptor_with_a_used_number_is_watched_anew():
    """The number of a closed descriptor is given to the next: what was noted of the old one must not stand for it."""

    def steps():
        for _ in range(20):
            reader, writer = os.pipe()
            os.write(writer, b"x")
            ready = yield Wait((reader,), (), 5.0)
            assert ready == [reader]
            yield Wait((), (), 0.0)
            os.close(reader)
            os.close(writer)
        return "done"

    assert drive(steps()) == "done"
    assert asyncio.run(adrive(steps())) == "done"


def test_threads_and_tasks_wait_in_one_queue():
    lender, order = Lender(["thing"]), []

    def thread(name):
        thing = lender.borrow()
        order.append(name)
        lender.give_back(thing)

    async def task(name):
        thing = await lender.aborrow()
        order.append(name)
        lender.give_back(thing)

    async def main():
        held = await lender.aborrow()
        first = asyncio.create_task(task("task"))
        await asyncio.sleep(0)
        second = threading.Thread(target=thread, args=("thread",))
        second.start()
        while len(lender._waiting) < 2:
            time.sleep(0.001)
        lost, last = asyncio.create_task(task("lost")), asyncio.create_task(task("last"))
        await asyncio.sleep(0)
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        giver = threading.Thread(target=lender.give_back, args=(held,))  # not on the loop's own thread
        giver.start()
        await asyncio.gather(first, last)
        giver.join()
        second.join()

    asyncio.run(main())
    assert order == ["task", "thread", "last"]
    assert lender.borrow() == "thing"


def test_a_thing_given_to_a_task_that_is_cancelled_at_that_moment_is_not_lost():
    lender = Lender(["thing"])

    async def main():
        held = await lender.aborrow()
        waits = asyncio.create_task(lender.aborrow())
        await asyncio.sleep(0)
        lender.give_back(held)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
        return await asyncio.wait_for(lender.aborrow(), 5)

    assert asyncio.run(main()) == "thing"


def test_who_waits_on_a_closed_loop_is_passed_over():
    lender = Lender(["thing"])
    held = lender.borrow()
    loop = asyncio.new_event_loop()
    task = loop.create_task(lender.aborrow())
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    lender.give_back(held)
    assert lender.borrow() == "thing"


def test_who_ends_lets_go_at_once():
    """Steps close their descriptors and end; whoever begins in the same moment gets the numbers."""

    def steps(times):
        for _ in range(times):
            reader, writer = os.pipe()
            os.write(writer, b"x")
            ready = yield Wait((reader,), (), 5.0)
            assert ready == [reader]
            os.close(reader)
            os.close(writer)

    async def main():
        async def one_after_the_other(number):
            for turn in range(60):
                await adrive(steps(1 + (turn + number) % 4))

        await asyncio.gather(*[one_after_the_other(number) for number in range(8)])

    asyncio.run(main())
    assert waiting._hubs == {}
