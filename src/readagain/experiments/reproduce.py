"""The whole story: run what is missing, measure time, then write what there is."""

from rich.console import Console

from readagain.experiments.budget import Budget
from readagain.experiments.plan import choose_rows
from readagain.experiments.report import write_report
from readagain.experiments.request import Request
from readagain.experiments.runner import ReproduceResult, run_rows
from readagain.experiments.time_table import TIMING_FILE
from readagain.experiments.timing import EXPECTED_S, measure_timing

DECODING_TIME = "decoding time"


def reproduce(request: Request, console: Console) -> ReproduceResult:
    """Do what a request asks for; killed, the same request goes on.

    Raises:
        ReadAgainError: for requests that cannot be met.
    """
    budget = Budget(request.budget)
    _, tables = choose_rows(request.names)
    outcome = run_rows(request, budget, console)
    if request.rows_only:
        return outcome
    if "table4" in tables and not (request.out / TIMING_FILE).exists():
        if outcome.is_interrupted or not budget.allows(EXPECTED_S[request.scale]):
            outcome.left.append(DECODING_TIME)
        else:
            measure_timing(request.out, scale=request.scale, threads=request.threads or 1)
            outcome.done.append(DECODING_TIME)
    is_fruitless = not outcome.done and not outcome.there
    if is_fruitless and (outcome.left or outcome.failed):
        return outcome  # there may be nothing yet to write tables from
    for problem in write_report(request.out):
        console.print(problem, highlight=False, markup=False, soft_wrap=True)
    return outcome
