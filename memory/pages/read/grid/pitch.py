"""The pitch of a page's lines and columns: what a grid of text does to a picture's spectrum.

Ink stops between two lines and, in Latin, between two letters, so that sums along a line rise and fall with its pitch.
Sums are of strips, so that a page in a corner of a picture is heard over what surrounds it.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats

STRIP = 128
_WINDOW, _HOP, _PADDED = 512, 256, 4096
_LOW, _HIGH = 6.5, 72.0  # pixels of a line's pitch: 12·0.6 and 16·4.3, with room
_TONES = 3
_SKEW = 0.06
_CLEAR = 0.02  # of a window's power in its pitch's tones, summed: less is chance


class Pitch(Struct, frozen=True):
    """A line's height and a column's width in picture pixels, and how clearly both are heard (0 to about 1)."""

    width: float
    height: float
    clear: float


def pitches(grey: NDArray[np.uint8], most: int = 4) -> list[Pitch]:
    """The likeliest pitches, the clearest first; none where nothing repeats as text does."""
    down, across = profiles(grey, 0), profiles(grey, 1)
    frequency, lines = _spectrum(down)
    _, columns = _spectrum(across)
    candidates = list[Pitch]()
    for height, clear_y in _peaks(frequency, lines, _LOW, _HIGH):
        near = np.abs(1 / np.maximum(frequency, 1e-9) / (height / 2) - 1) <= _SKEW
        if not near.any():
            continue
        clear_x = float(columns[near].max())
        width = 1 / float(frequency[near][columns[near].argmax()])
        candidates.append(Pitch(width, height, float(np.sqrt(clear_x * clear_y))))
    candidates = [pitch for pitch in candidates if pitch.clear >= _CLEAR]
    best = sorted(candidates, key=lambda pitch: -pitch.clear)[:most]
    return [Pitch(_refined(across, pitch.width), _refined(down, pitch.height), pitch.clear) for pitch in best]


def profiles(grey: NDArray[np.uint8], along: int) -> Floats:
    """(strips, length): the change across each strip's lines, summed; along the picture's height (0) or width (1)."""
    picture = grey if along == 0 else grey.T
    strips = list[Floats]()
    for at in range(0, max(picture.shape[1] - STRIP // 2, 1), STRIP):
        strip = picture[:, at : at + STRIP].astype(np.int16)
        strips.append(np.abs(np.diff(strip, axis=1)).sum(axis=1, dtype=np.float32))
    return np.stack(strips)


def _spectrum(profile: Floats) -> tuple[Floats, Floats]:
    """Frequencies a pixel, and the mean over windows of the share of power there and at the overtones."""
    length = min(_WINDOW, profile.shape[1])
    starts = range(0, profile.shape[1] - length + 1, _HOP)
    windows = np.concatenate([profile[:, at : at + length] for at in starts])
    windows = windows - windows.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(windows * np.hanning(length), _PADDED)) ** 2
    total = power.sum(axis=1, keepdims=True)
    power = power / np.where(total < 1, np.inf, total)
    shares = np.sort(power, axis=0)[-max(len(power) // 8, 1) :].mean(axis=0)  # where it is clearest: a page in a corner
    frequency = np.arange(len(shares)) / _PADDED
    tones = np.zeros_like(shares)
    for tone in range(1, _TONES + 1):
        at = np.arange(len(shares)) * tone
        inside = at < len(shares)
        tones[inside] += shares[at[inside]]
    return frequency.astype(np.float32), tones.astype(np.float32)


def _peaks(frequency: Floats, tones: Floats, low: float, high: float, most: int = 8) -> list[tuple[float, float]]:
    """(pitch, share) of the highest peaks between these pitches."""
    inside = (frequency > 1 / high) & (frequency < 1 / low)
    top = inside[1:-1] & (tones[1:-1] >= tones[:-2]) & (tones[1:-1] > tones[2:])
    at = np.flatnonzero(top) + 1
    best = at[np.argsort(-tones[at])][:most]
    return [(1 / float(frequency[n]), float(tones[n])) for n in best]


def _refined(profile: Floats, pitch: float) -> float:
    """The pitch to a few ten-thousandths: the whole length heard at once, in the strips that have it."""
    position: NDArray[np.intp] = np.arange(profile.shape[1], dtype=np.intp)
    level = profile - profile.mean(axis=1, keepdims=True)
    for width, steps in ((0.01, 81), (0.0008, 33)):
        tried = pitch * (1 + np.linspace(-width, width, steps))
        heard = np.zeros(steps)
        for tone in (1, 2):
            wave = np.exp(-2j * np.pi * tone * position[:, None] / tried[None]).astype(np.complex64)
            heard += (np.abs(level @ wave) ** 2).sum(axis=0)
        pitch = float(tried[heard.argmax()])
    return pitch
