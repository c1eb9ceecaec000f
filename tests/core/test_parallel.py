"""Tasks on threads: results in the order of the tasks, a state for each thread, the error of the lowest task."""

import pytest

from fastmetrics._core.parallel import accumulate, for_each
from support.cases import each_case


@each_case("n_threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_tasks(n_threads):
    assert for_each(100, lambda: lambda task: task * task, n_threads) == [task * task for task in range(100)]
    assert for_each(0, lambda: lambda task: task, n_threads) == []


@each_case("n_threads", [1, 2, 5])
def test_every_task_is_added_to_one_state(n_threads):
    states = accumulate(100, list, list.append, n_threads)
    assert 1 <= len(states) <= n_threads
    assert sorted(task for state in states for task in state) == list(range(100))


@each_case("n_threads", [1, 3])
def test_the_error_of_the_lowest_task_is_raised(n_threads):
    def fail(task):
        if task >= 2:
            raise ValueError(f"task {task}")

    with pytest.raises(ValueError, match="task 2"):
        for_each(50, lambda: fail, n_threads)
