"""The inner loops of the training, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def gather(texts, extras, text_start, text_words, word_start, word_rows, drop_words, drop_rows, seed):
    """The rows of each text and of up to two texts beside it, some of them left out at random; the first word and row stay."""
    np.random.seed(seed)
    most = 0
    for e in range(len(texts)):
        for text in (texts[e], extras[e, 0], extras[e, 1]):
            if text >= 0:
                for w in range(text_start[text], text_start[text + 1]):
                    word = text_words[w]
                    most += word_start[word + 1] - word_start[word]
    rows = np.empty(most, np.int32)
    start = np.zeros(len(texts) + 1, np.int64)
    count = 0
    for e in range(len(texts)):
        for text in (texts[e], extras[e, 0], extras[e, 1]):
            if text < 0:
                continue
            words = text_start[text + 1] - text_start[text]
            for w in range(text_start[text], text_start[text + 1]):
                if words > 2 and np.random.random() < drop_words:
                    continue
                word = text_words[w]
                for at in range(word_start[word], word_start[word + 1]):
                    if count == start[e] or np.random.random() >= drop_rows:
                        rows[count] = word_rows[at]
                        count += 1
        start[e + 1] = count
    return rows[:count], start


@njit(cache=True, fastmath=True)
def sums(rows, start, table):
    found = np.zeros((len(start) - 1, table.shape[1]), np.float32)
    for e in range(len(start) - 1):
        for at in range(start[e], start[e + 1]):
            row = rows[at]
            for d in range(table.shape[1]):
                found[e, d] += table[row, d]
    return found


@njit(cache=True, fastmath=True)
def update(rows, start, grads, table, seen, rate):
    """Adagrad with one number for each row."""
    dims = table.shape[1]
    for e in range(len(start) - 1):
        square = np.float32(0)
        for d in range(dims):
            square += grads[e, d] * grads[e, d]
        square /= dims
        for at in range(start[e], start[e + 1]):
            row = rows[at]
            seen[row] += square
            step = np.float32(rate / np.sqrt(seen[row]))
            for d in range(dims):
                table[row, d] -= step * grads[e, d]


@njit(cache=True)
def learn_votes(order, labels, weights, text_start, text_words, word_start, word_rows, votes, seen, rate, pull):
    """One pass of logistic regression: does a text's rows together say that it is not English?"""
    loss = 0.0
    for e in order:
        score = votes[-1]
        for w in range(text_start[e], text_start[e + 1]):
            word = text_words[w]
            for at in range(word_start[word], word_start[word + 1]):
                score += votes[word_rows[at]]
        wrong = 1 / (1 + np.exp(-score)) - labels[e]
        loss += np.log1p(np.exp(-score if labels[e] else score))
        for w in range(text_start[e], text_start[e + 1]):
            word = text_words[w]
            for at in range(word_start[word], word_start[word + 1]):
                row = word_rows[at]
                grad = wrong * weights[e] + pull * votes[row]
                seen[row] += grad * grad
                votes[row] -= rate * grad / np.sqrt(seen[row])
    return loss / len(order)
