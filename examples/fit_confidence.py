"""Fit the confidence of a model on rated headlines, and write it into the model directory.

    readagain summarize texts.jsonl --model runs/mine --field headline --output rated.jsonl
    (rate the headlines: add "good": 1 to the lines without fault, "good": 0 to the others)
    python examples/fit_confidence.py rated.jsonl --model runs/mine

Each line has "text", "headline" and "good". The headline must be the one that the model writes for
the text, since the probabilities of its words are features. Other lines are counted and left out.
The confidence is a logistic regression with an L2 penalty, chosen by cross-validation. The printed
table compares the confidence of held-out headlines with the share of good headlines. The weights of
warnings are fixed, since few headlines have one: a warning always lowers the confidence.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from readagain import Summarizer
from readagain.engine.checks import CHECKS
from readagain.engine.confidence import FEATURES
from readagain.model_dir import CONFIDENCE_FILE
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import write_model_files

WARNING_WEIGHT = -1.7
"""Difference of the log-odds for a warning: of rated headlines without and with a failed check, 69%
and 28% have no fault (docs/quality.md, "Warnings")."""
WARNINGS = ("language", *CHECKS)
FITTED_FEATURES = tuple(name for name in FEATURES if name not in WARNINGS)
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
NUM_FOLDS = 10
NUM_NEWTON_STEPS = 50
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def fit(features: np.ndarray, is_good: np.ndarray, penalty: float) -> np.ndarray:
    """Fit a logistic regression to N headlines by Newton's method.

    Args:
        features: (N, F) features.
        is_good: (N,) ratings, 1 or 0.
        penalty: strength of the L2 penalty.

    Returns:
        (1 + F,) intercept and weights.
    """
    inputs = np.c_[np.ones(len(features)), features]  # (N, 1 + F)
    weights = np.zeros(inputs.shape[1])
    ridge = penalty * np.eye(len(weights))
    ridge[0, 0] = 1e-6  # the intercept has practically no penalty
    for _ in range(NUM_NEWTON_STEPS):
        probability = sigmoid(inputs @ weights)  # (N,)
        gradient = inputs.T @ (probability - is_good) + ridge @ weights
        hessian = (inputs * (probability * (1 - probability))[:, None]).T @ inputs + ridge
        weights -= np.linalg.solve(hessian, gradient)
    return weights


def sigmoid(log_odds: np.ndarray) -> np.ndarray:
    """Return probabilities for log-odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


def cross_validate(
    features: np.ndarray, is_good: np.ndarray, texts: np.ndarray, penalty: float
) -> np.ndarray:
    """Return the confidence of each headline by a fit to the other folds of the data.

    `texts` has the number of the text of each headline. All headlines of a text are in one fold.
    """
    folds = np.random.default_rng(1).permutation(texts.max() + 1)[texts] % NUM_FOLDS
    confidence = np.zeros(len(is_good))
    for fold in range(NUM_FOLDS):
        is_held_out = folds == fold
        weights = fit(features[~is_held_out], is_good[~is_held_out], penalty)
        confidence[is_held_out] = sigmoid(weights[0] + features[is_held_out] @ weights[1:])
    return confidence


def mean_log_loss(confidence: np.ndarray, is_good: np.ndarray) -> float:
    """Return the mean negative log-likelihood of the ratings."""
    likelihood = np.where(is_good == 1, confidence, 1 - confidence)
    return float(-np.log(np.maximum(likelihood, 1e-9)).mean())


def area_under_curve(confidence: np.ndarray, is_good: np.ndarray) -> float:
    """Return the probability that a good headline has a higher confidence than a bad one."""
    good, bad = confidence[is_good == 1][:, None], confidence[is_good == 0][None]
    return float((good > bad).mean() + 0.5 * (good == bad).mean())


def reliability_table(confidence: np.ndarray, is_good: np.ndarray) -> str:
    """Return a table of the mean confidence and the share of good headlines by confidence."""
    lines = ["confidence  headlines  mean  good"]
    for low, high in zip(BINS, BINS[1:], strict=False):
        is_in_bin = (confidence >= low) & ((confidence < high) | (high == 1.0))
        if is_in_bin.any():
            mean, good_share = confidence[is_in_bin].mean(), is_good[is_in_bin].mean()
            count = is_in_bin.sum()
            lines.append(f"{low:.1f}-{high:.1f}    {count:9}  {mean:.2f}  {good_share:.2f}")
    return "\n".join(lines)


def read_rated(path: Path, summarizer: Summarizer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features, ratings and text numbers of the headlines that the model wrote."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    summaries = summarizer.summarize([row["text"] for row in rows])
    pairs = [
        (row, summary)
        for row, summary in zip(rows, summaries, strict=True)
        if summary.text == row["headline"] and summary.text
    ]
    print(f"{len(pairs)} of {len(rows)} headlines are those of the model")
    features = []
    for row, summary in pairs:
        values = summarizer.features(row["text"], summary)
        features.append([values[name] for name in FITTED_FEATURES])
    is_good = np.array([float(row["good"]) for row, _ in pairs])
    texts = np.unique([row["text"] for row, _ in pairs], return_inverse=True)[1]
    return np.array(features), is_good, texts


def main() -> None:
    """Fit the confidence, print a table, and write `confidence.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rated", type=Path, help="JSON lines with 'text', 'headline' and 'good'")
    parser.add_argument("--model", required=True, help="model directory, which gets the result")
    arguments = parser.parse_args()
    features, is_good, texts = read_rated(arguments.rated, Summarizer.load(arguments.model))
    if len(set(texts)) < 2 * NUM_FOLDS or len(set(is_good)) < 2:
        parser.error(
            f"{arguments.rated}: too few headlines of the model; expected {2 * NUM_FOLDS} or more "
            "texts, with good and bad headlines"
        )
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0] = 1.0
    scaled = (features - mean) / scale
    penalty = min(
        PENALTIES,
        key=lambda value: mean_log_loss(cross_validate(scaled, is_good, texts, value), is_good),
    )
    confidence = cross_validate(scaled, is_good, texts, penalty)
    print(f"penalty {penalty:g}, area under the curve {area_under_curve(confidence, is_good):.3f}")
    print(reliability_table(confidence, is_good))
    intercept, *weights = fit(scaled, is_good, penalty)
    weights = np.array(weights) / scale  # for features that are not scaled
    fitted = zip(FITTED_FEATURES, weights, strict=True)
    content = {
        "intercept": round(float(intercept - weights @ mean), 6),
        "weights": {name: round(float(weight), 6) for name, weight in fitted if weight}
        | dict.fromkeys(WARNINGS, WARNING_WEIGHT),
        "headlines": len(is_good),
    }
    text = json.dumps(content, indent=2) + "\n"
    folder = find_model(arguments.model)
    write_model_files(folder, {CONFIDENCE_FILE: lambda path: path.write_text(text)})
    print(f"{folder / CONFIDENCE_FILE}: written")


if __name__ == "__main__":
    main()
