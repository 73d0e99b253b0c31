"""Splits texts into overlapping chunks and ranks them with BM25. Exact, in one file, and quick for a few thousand chunks."""

import math
import re
from collections import Counter

K1, B = 1.2, 0.75


def chunks(text: str, size: int = 1000, overlap: int = 200) -> list[str]:
    """Cuts near `size`, at the end of a sentence where there is one in the last third."""
    if not 0 <= overlap < size:
        raise ValueError("overlap must be smaller than size")
    found, start = [], 0
    while start < len(text):
        piece = text[start : start + size]
        if start + size < len(text):
            stop = max(piece.rfind(mark, size * 2 // 3) for mark in (". ", "! ", "? ", "\n"))
            piece = piece[: stop + 1] if stop > overlap else piece
        if piece.strip():
            found.append(piece.strip())
        if start + len(piece) >= len(text):
            break
        start += len(piece) - overlap
    return found


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def rank(query: str, texts: list[str], top: int = 5) -> list[tuple[float, str]]:
    """The best matching texts, best first, each with its score."""
    counts = [Counter(words(text)) for text in texts]
    average = sum(map(Counter.total, counts)) / max(len(counts), 1) or 1
    scored = []
    for text, count in zip(texts, counts, strict=True):
        score = 0.0
        for word in set(words(query)):
            having = sum(word in other for other in counts)
            weight = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            score += weight * count[word] * (K1 + 1) / (count[word] + K1 * (1 - B + B * count.total() / average))
        if score > 0:
            scored.append((score, text))
    return sorted(scored, reverse=True)[:top]
