"""Paired t tests, power and Holm's correction by SciPy; medians of bootstrap intervals; spike scores: python study_statistics.py

Needs the package scipy; nothing else in this project does."""

import numpy
import scipy
from golden_file import ramp, write
from scipy import stats


def smallest_difference(deviation, pairs, power):
    """By bisection on SciPy's noncentral t."""
    critical = stats.t.ppf(0.975, pairs - 1)
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        found = stats.nct.sf(critical, pairs - 1, middle) + stats.nct.cdf(-critical, pairs - 1, middle)
        low, high = (middle, high) if found < power else (low, middle)
    return low * deviation / pairs**0.5


def holm(p):
    order = numpy.argsort(p, kind="stable")
    adjusted = numpy.empty(len(p))
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * numpy.array(p)[order]))
    return adjusted.tolist()


paired = []
for pairs, shift in ((2, 0.3), (3, 0.0), (3, 0.7), (5, -0.4), (20, 0.1)):
    first = ramp(f"first {pairs} {shift}", [pairs]).numpy() + shift
    second = ramp(f"second {pairs} {shift}", [pairs]).numpy() * 0.5
    test = stats.ttest_rel(first, second)
    interval = test.confidence_interval(0.95)
    paired.append(
        {
            "first": first.tolist(),
            "second": second.tolist(),
            "mean": float(numpy.mean(first - second)),
            "deviation": float(numpy.std(first - second, ddof=1)),
            "low": float(interval.low),
            "high": float(interval.high),
            "p": float(test.pvalue),
        }
    )
power = [
    {"deviation": d, "pairs": n, "power": p, "smallest": smallest_difference(d, n, p)}
    for d, n, p in ((0.01, 2, 0.8), (0.01, 3, 0.8), (0.05, 5, 0.8), (1.0, 16, 0.8), (1.0, 16, 0.95), (0.3, 100, 0.5))
]
corrections = [
    {"p": p, "adjusted": holm(p)}
    for p in ([0.04], [0.01, 0.04, 0.03], [0.2, 0.2, 0.001, 0.9], [0.5, 0.6], [0.01, 0.01, 0.01])
]
values = (ramp("bootstrap", [128]).numpy() * 0.2 + 0.05).tolist()
draw = stats.bootstrap((values,), numpy.mean, n_resamples=100_000, method="percentile", random_state=0)
write(
    "study_statistics",
    paired,
    scipy=scipy.__version__,
    power=power,
    holm=corrections,
    bootstrap={
        "values": values,
        "low": float(draw.confidence_interval.low),
        "high": float(draw.confidence_interval.high),
    },
)
