"""The whole zoo, at random and in crowds: afterwards the host is as it was before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import zoo

RUNS = 300
CROWD = 12
SEEDS = (1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_soak(seed: int, tmp_path: Path, token: str) -> None:
    """Hundreds of runs of the zoo leave no process, no zombie and no descriptor, and every status is right."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    descriptors = zoo.descriptors()
    runs = kept = 0
    while runs < RUNS // len(SEEDS):
        crowd = chance.choices(zoo.ZOO, k=chance.randint(1, CROWD))
        drive = chance.choice(list(zoo.DRIVERS.values()))
        jobs = []
        for number, animal in enumerate(crowd):
            room = tmp_path / f"{runs + number}"
            room.mkdir()
            jobs.append(zoo.job_of(animal, cwd=room, timeout=0.2 if animal.endless else None))
        outcomes = drive(jobs)
        for animal, outcome in zip(crowd, outcomes, strict=True):
            # A sleeper may be killed before it said a word; everything else is as it always is.
            assert outcome.status == animal.status, (seed, animal, outcome)
            assert animal.endless or zoo.misfits(animal, outcome) == []
        runs += len(crowd)
        kept += sum(animal.keeps for animal in crowd)
    zoo.eventually(lambda: zoo.living(token)[0] == [], 5.0)
    escaped, alive = zoo.living(token)
    assert (zoo.names(escaped), len(alive)) == ([], kept)
    assert zoo.zombies() == []
    assert zoo.descriptors() == descriptors
