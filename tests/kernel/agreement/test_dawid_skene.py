"""Dawid–Skene: equal to a naive EM, rising likelihood, known truths recovered."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.agreement import dawid_skene as model
from agon.kernel.agreement.dawid_skene import DawidSkene, dawid_skene, worker_accuracy
from kernel.agreement.em_oracle import em
from sizes import size

law = settings(max_examples=size(40), deadline=None)
IntArray = npt.NDArray[np.int64]


def contest(
    *,
    seed: int,
    tasks: int = 300,
    skills: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6),
    classes: int = 3,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Let every worker label every task, right with their skill, else at random."""
    dice = np.random.default_rng(seed)
    truth = dice.integers(0, classes, tasks)
    task = np.repeat(np.arange(tasks), len(skills))
    worker = np.tile(np.arange(len(skills)), tasks)
    knows = dice.random(len(task)) < np.array(skills)[worker]
    label = np.where(knows, truth[task], dice.integers(0, classes, len(task)))
    return truth, task, worker, label


def same(one: DawidSkene, other: DawidSkene) -> bool:
    """Compare two fits to the last bit."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("priors", "confusion", "posteriors", "seen", "log_likelihoods")
    )


@st.composite
def rows(draw: Any) -> list[tuple[int, int, int]]:
    """Draw labels with gaps, repeats and silent classes; every task and worker has a label."""
    tasks, workers = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    some = st.tuples(st.integers(0, tasks - 1), st.integers(0, workers - 1), st.integers(0, 2))
    needed = [(task, task % workers, draw(st.integers(0, 2))) for task in range(tasks)]
    needed += [(worker % tasks, worker, draw(st.integers(0, 2))) for worker in range(workers)]
    more: list[tuple[int, int, int]] = draw(st.lists(some, max_size=15))
    return needed + more


@law
@given(rows(), st.integers(1, 6))
def test_em_equals_the_naive_em(labels: list[tuple[int, int, int]], iterations: int) -> None:
    """Sorted passes, lanes and blocks are clever; dicts and loops are not."""
    posteriors, trace = em(labels, 3, iterations)
    fit = dawid_skene(*np.array(labels).T, classes=3, iterations=iterations, tolerance=-np.inf)
    assert fit.iterations == iterations
    assert fit.log_likelihoods == pytest.approx(trace, rel=1e-9, abs=1e-9)
    assert fit.posteriors == pytest.approx(np.array(posteriors), abs=1e-7)


@law
@given(rows(), st.randoms())
def test_rows_have_no_order(labels: list[tuple[int, int, int]], dice: Any) -> None:
    """The same labels in another file order give the same bits."""
    shuffled = labels.copy()
    dice.shuffle(shuffled)
    one, other = (dawid_skene(*np.array(each).T, classes=3) for each in (labels, shuffled))
    assert same(one, other)


@law
@given(rows())
def test_likelihood_rises_and_shares_are_shares(labels: list[tuple[int, int, int]]) -> None:
    """EM never loses likelihood; priors, posteriors and each row of a confusion matrix sum to 1."""
    fit = dawid_skene(*np.array(labels).T, classes=3, iterations=30, tolerance=-np.inf)
    assert all(after >= before - 1e-6 for before, after in pairwise(fit.log_likelihoods))
    for shares in (fit.priors, fit.posteriors, fit.confusion):
        assert shares.sum(axis=-1) == pytest.approx(1.0)
        assert (shares >= 0).all()
    assert fit.seen.sum() == pytest.approx(len(labels))


def test_the_truth_is_found_better_than_by_majority() -> None:
    """One expert among guessers: the model learns whom to believe (seed 5)."""
    truth, task, worker, label = contest(seed=5, tasks=400, skills=(0.97, 0.3, 0.3, 0.3, 0.3))
    fit = dawid_skene(task, worker, label, classes=3)
    votes = np.zeros((400, 3))
    np.add.at(votes, (task, label), 1)
    assert fit.converged
    assert (fit.truth == truth).mean() > (votes.argmax(axis=1) == truth).mean() + 0.1


def test_accuracy_intervals_hold_the_true_accuracy_about_as_often_as_they_say() -> None:
    """Right with skill s, else at random: accuracy s + (1 - s)/3, in 95 % intervals (40 seeds)."""
    skills = (0.9, 0.8, 0.7, 0.6)
    true = np.array([skill + (1 - skill) / 3 for skill in skills])
    held = 0
    for seed in range(40):
        fit = dawid_skene(*contest(seed=seed, skills=skills)[1:], classes=3)
        result = worker_accuracy(fit, confidence=0.95)
        assert ((result.low <= result.value) & (result.value <= result.high)).all()
        held += int(((result.low <= true) & (true <= result.high)).sum())
    assert 0.90 <= held / 160 <= 1.0


def test_labels_spsimilar_users_the_classes_count_in_full() -> None:
    """Labels in the classes' own proportions all count; a class never met caps the rest."""
    priors = np.array([0.5, 0.3, 0.2])
    seen = np.array([[50.0, 30.0, 20.0], [0.0, 1e9, 1e9], [0.0, 0.0, 0.0]])
    confusion = np.tile(np.full((3, 3), 1 / 3), (3, 1, 1))
    fit = DawidSkene(priors, confusion, np.zeros((1, 3)), seen, np.zeros(1), converged=True)
    result = worker_accuracy(fit, confidence=0.95)
    assert result.effective_labels == pytest.approx([100.0, 1.0, 0.0], abs=1e-6)
    assert (result.low[2], result.high[2]) == (0.0, 1.0)


def test_compiled_and_plain_sums_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which way is taken depends on size alone and must not show; blocks of odd sizes as well."""
    _, task, worker, label = contest(seed=1, tasks=101)
    monkeypatch.setattr(model, "_BLOCK", 7)
    plain = dawid_skene(task, worker, label, classes=3)
    monkeypatch.setattr("agon.kernel.agreement.dawid_skene.COMPILED_FROM", 0)
    monkeypatch.setattr(model, "COMPILED_FROM", 0)
    compiled = dawid_skene(task, worker, label, classes=3)
    assert same(plain, compiled)


def test_a_single_label_is_believed() -> None:
    """The smallest contest there is: one task, one worker, one label."""
    fit = dawid_skene([0], [0], [1], classes=2)
    assert fit.truth.tolist() == [1]
    assert worker_accuracy(fit, confidence=0.95).value.tolist() == [pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0], [0, 1], [0]), "equal counts"),
        (([0, 2], [0, 0], [0, 0]), "task numbers have gaps"),
        (([0, 0], [0, 2], [0, 0]), "worker numbers have gaps"),
        (([0], [-1], [0]), "worker number is negative"),
        (([0], [0], [2]), "expected labels below 2"),
    ],
)
def test_numbers_must_be_dense(columns: tuple[list[int], ...], message: str) -> None:
    """A task without a label has no posterior; numbering is the caller's work."""
    with pytest.raises(ValueError, match=message):
        dawid_skene(*columns, classes=2)


def test_no_labels_are_rejected() -> None:
    """No labels, or no iteration: said at once."""
    with pytest.raises(NotScorable):
        dawid_skene([], [], [], classes=2)
    with pytest.raises(ValueError, match="iteration"):
        dawid_skene([0], [0], [0], classes=2, iterations=0)
