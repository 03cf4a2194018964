"""Two ways to drive the engine's steps: by blocking, and on an event loop. Neither knows what the steps mean."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from hookline.model import Job, Outcome, Runner
from hookline.runners import process

RUNNERS: dict[str, Runner] = {"process": process}

_T = TypeVar("_T")


def block(steps: Generator[list[Job], list[Outcome], _T]) -> _T:
    """Drive the steps on this thread."""
    try:
        jobs = next(steps)
        while True:
            jobs = steps.send(RUNNERS[_runner(jobs)].run(jobs))
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


async def on_loop(steps: Generator[list[Job], list[Outcome], _T]) -> _T:
    """Drive the steps on the running event loop, which goes on with other things meanwhile."""
    try:
        jobs = next(steps)
        while True:
            jobs = steps.send(await _watched(process.Wave(jobs)))
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


async def _watched(wave: process.Wave) -> list[Outcome]:
    """A wave whose one descriptor the loop watches. Cancelling the task ends every process of the wave."""
    import asyncio

    loop = asyncio.get_running_loop()
    with wave:
        while wave.running:
            woken = loop.create_future()

            def wake(woken: asyncio.Future[None] = woken) -> None:
                if not woken.done():
                    woken.set_result(None)

            loop.add_reader(wave.fileno(), wake)
            timer = loop.call_later(wave.patience(), wake)
            try:
                await woken
            finally:
                timer.cancel()
                loop.remove_reader(wave.fileno())
            wave.step(0)
    return wave.outcomes


def _runner(jobs: list[Job]) -> str:
    return jobs[0].hook.action.runner
