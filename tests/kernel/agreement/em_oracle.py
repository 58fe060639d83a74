"""Dawid and Skene's EM in plain dicts and loops, written from their paper: slow, easy to check."""

from math import exp, log

Label = tuple[int, int, int]  # task, worker, label


def em(rows: list[Label], classes: int, iterations: int) -> tuple[list[list[float]], list[float]]:
    """Return the posterior of each task and the log-likelihood at the start of each iteration."""
    tasks = max(task for task, _, _ in rows) + 1
    truth = range(classes)
    posteriors = [[0.0] * classes for _ in range(tasks)]
    for task, _, label in rows:
        posteriors[task][label] += 1
    posteriors = [[count / sum(counts) for count in counts] for counts in posteriors]
    trace = []
    for _ in range(iterations):
        priors = [sum(each[k] for each in posteriors) / tasks for k in truth]
        expected: dict[tuple[int, int, int], float] = {}
        for task, worker, label in rows:
            for k in truth:
                expected[worker, label, k] = (
                    expected.get((worker, label, k), 0.0) + posteriors[task][k]
                )
        expected = {key: max(count, 1e-10) for key, count in expected.items()}
        chance = {
            (worker, label, k): count
            / sum(other for (w, _, c), other in expected.items() if (w, c) == (worker, k))
            for (worker, label, k), count in expected.items()
        }
        trace.append(0.0)
        for task in range(tasks):
            joint = [
                log(max(priors[k], 1e-10))
                + sum(log(chance[w, label, k]) for t, w, label in rows if t == task)
                for k in truth
            ]
            weights = [exp(each - max(joint)) for each in joint]
            posteriors[task] = [weight / sum(weights) for weight in weights]
            trace[-1] += max(joint) + log(sum(weights))
    return posteriors, trace
