"""Named ways to train: `--set train=modern` takes a whole one."""

from readagain.config.schema import TrainSpec

# Section 4: plain SGD at 2, halved every epoch after the fifth, gradients clipped at 10.
PAPER = TrainSpec()

# What a user who wants a good model in minutes takes; not a claim of the paper.
MODERN = TrainSpec(
    optimizer="adamw",
    learning_rate=1e-3,
    warmup_steps=500,
    schedule="cosine",
    weight_decay=0.01,
    max_norm=1.0,
    batch_size=512,
    epochs=8,
    averaging="ema",
    precision="bfloat16",
)

RECIPES = {"paper": PAPER, "modern": MODERN}
