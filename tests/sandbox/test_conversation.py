"""Whose fault it is: a guest that never was set up is the sandbox's, everything after that its own."""

import os
import signal
import threading

import pytest

from sandbox.contract import Job, Limits
from sandbox.conversation import NO_NONCE, Death, converse
from sandbox.waiting import drive

LIMITS = Limits(cpu_s=1.0, wall_s=1.0, memory_bytes=1 << 29, output_bytes=1000, file_bytes=1000)


def frame(nonce, body):
    return (len(body) + 16).to_bytes(4, "big") + nonce + body


class Actor:
    """A guest of our own: `act` is given its ends of the pipes, on a thread."""

    tied, death = False, None

    def __init__(self, act, greets):
        self.greets, self._act = greets, act
        self._theirs, self.requests = os.pipe()
        self.replies, self._answers = os.pipe()
        self.output, self._prints = os.pipe()
        for number in (self.requests, self.replies, self.output):
            os.set_blocking(number, False)
        self._thread = threading.Thread(target=self._live)
        self._thread.start()

    def _live(self):
        self._act(self._theirs, self._answers)
        os.close(self._answers)
        os.close(self._prints)

    def arrive(self):
        return
        yield

    def loosen(self):
        raise AssertionError("never tied")

    def dead(self):
        return not self._thread.is_alive()

    def cpu_s(self):
        return 0.0

    def finish(self):
        self.abandon()
        return Death(signal.SIGSEGV, 0.0)
        yield

    def abandon(self):
        self._thread.join()
        for number in (self._theirs, self.requests, self.replies, self.output):
            os.close(number)


def talk(act, greets, made):
    def launch():
        made.append(Actor(act, greets))
        return made[-1]
        yield

    return drive(converse(Job("code", "f", [{"x": 1}], LIMITS), launch, ()))


def reads_nothing(requests, replies):
    pass


def reads_and_leaves(requests, replies):
    os.read(requests, 1 << 16)


def refuses(requests, replies):
    os.write(replies, frame(NO_NONCE, b"F" + b"no limits"))


def reads_and_claims_to_be_refused(requests, replies):
    os.read(requests, 1 << 16)
    os.write(replies, frame(NO_NONCE, b"F" + b"no limits"))


def greets_twice(requests, replies):
    os.write(replies, frame(NO_NONCE, b"G") * 2)


def greets_and_claims_to_be_refused(requests, replies):
    os.write(replies, frame(NO_NONCE, b"G") + frame(NO_NONCE, b"F"))


def loads_and_greets(requests, replies):
    nonce = os.read(requests, 1 << 16)[4:20]
    os.write(replies, frame(nonce, b"R"))
    os.write(replies, frame(NO_NONCE, b"G"))


@pytest.mark.parametrize(
    ("act", "greets", "said"),
    [
        (reads_nothing, False, "died"),
        (reads_nothing, True, "died"),
        (refuses, False, "no limits"),
        (refuses, True, "no limits"),
    ],
)
def test_who_was_never_set_up_is_a_fault_after_a_second_try(act, greets, said):
    made = []
    execution = talk(act, greets, made)
    assert len(made) == 2
    assert execution.results == ()
    assert "did not start" in execution.fault
    assert said in execution.fault


@pytest.mark.parametrize(
    ("act", "greets", "kind"),
    [
        (reads_and_leaves, False, "killed"),
        (reads_and_claims_to_be_refused, False, "protocol"),
        (greets_twice, True, "protocol"),
        (greets_and_claims_to_be_refused, True, "protocol"),
        (loads_and_greets, False, "protocol"),
    ],
)
def test_who_has_read_the_code_can_claim_no_fault(act, greets, kind):
    made = []
    execution = talk(act, greets, made)
    assert execution.fault is None
    assert [result.kind for result in execution.results] == [kind]
    assert len(made) == 1
