"""The model and its training: weighted word rows, summed, and a softmax at every branch of the tree. Plain loops, compiled."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

SCALE = 4.0
"""Of a text's vector, the weighted mean of its rows."""
PRIOR = 0.5
"""Weight of nothing in that mean: a text of few telling words has a short vector."""

COMPANY_PLACES = np.array([6, 6, 7, 7, 2, 2, 2, 5])
"""Where the words of another thing are put beside a title, so that the model learns which place names the thing."""

NOISE_PLACES = np.array([2, 2, 2, 2, 3, 5, 7])
"""Where words of other titles are put."""


@njit(cache=True)
def text_vector(rows, places, count, table, weight, place_weight, vector):
    """Fills `vector`; returns the sum of the weights."""
    vector[:] = 0.0
    total = PRIOR
    for k in range(count):
        g = math.exp(weight[rows[k]] + place_weight[places[k]])
        total += g
        for i in range(vector.shape[0]):
            vector[i] += g * table[rows[k], i]
    for i in range(vector.shape[0]):
        vector[i] *= SCALE / total
    return total


@njit(cache=True)
def softmax_step(options, target, share, vector, out, bias, out_seen, bias_seen, rate, d_vector, scores):
    """One softmax over rows of `out`: adds the gradient to `d_vector`, updates the rows, returns the loss."""
    n, dims = options.shape[0], vector.shape[0]
    highest = -1e30
    for j in range(n):
        row = options[j]
        z = bias[row]
        for i in range(dims):
            z += vector[i] * out[row, i]
        scores[j] = z
        highest = max(highest, z)
    total = 0.0
    for j in range(n):
        scores[j] = math.exp(scores[j] - highest)
        total += scores[j]
    loss = 0.0
    square = 0.0
    for i in range(dims):
        square += vector[i] * vector[i]
    for j in range(n):
        p = scores[j] / total
        delta = p
        if options[j] == target:
            loss = -math.log(p + 1e-12)
            delta = p - 1.0
        delta *= share
        if abs(delta) < 1e-4:
            continue
        row = options[j]
        out_seen[row] += delta * delta * square / dims
        bias_seen[row] += delta * delta
        step = rate / math.sqrt(out_seen[row] + 1e-8)
        for i in range(dims):
            d_vector[i] += delta * out[row, i]
            out[row, i] -= step * delta * vector[i]
        bias[row] -= rate * 0.3 * delta / math.sqrt(bias_seen[row] + 1e-8)
    return loss * share


@njit(cache=True)
def train(order, rows, places, counts, labels, shares, steps, step_start, option_rows, option_start, table, home, weight, place_weight, out, bias, seen, rate0, rate1, drop, mix, name_examples, noise, word_rows, pull, deep, seed):
    """One pass. `steps` are (branch, chosen row) pairs of each category; `option_rows` the rows of each branch."""
    np.random.seed(seed)
    table_seen, weight_seen, place_seen, out_seen, bias_seen = seen
    dims = table.shape[1]
    vector, d_vector = np.zeros(dims, np.float32), np.zeros(dims, np.float32)
    scores = np.zeros(2048, np.float64)
    kept_rows, kept_places = np.zeros(96, np.int64), np.zeros(96, np.int64)
    losses = 0.0
    for at in range(order.shape[0]):
        rate = rate0 + (rate1 - rate0) * at / order.shape[0]
        e = order[at]
        n = 0
        for k in range(counts[e]):
            if np.random.random() >= drop:
                kept_rows[n], kept_places[n] = rows[e, k], places[e, k]
                n += 1
        if np.random.random() < mix:
            other = name_examples[np.random.randint(name_examples.shape[0])]
            place = COMPANY_PLACES[np.random.randint(COMPANY_PLACES.shape[0])]
            for k in range(counts[other]):
                kept_rows[n], kept_places[n] = rows[other, k], place
                n += 1
        if n == 0:
            continue
        if np.random.random() < noise:
            for _ in range(1 + np.random.randint(5)):
                other = np.random.randint(rows.shape[0])
                if counts[other] == 0:
                    continue
                row = rows[other, np.random.randint(counts[other])]
                if row <= word_rows:
                    alone = counts[e] == 1 and np.random.random() < 0.5
                    kept_rows[n], kept_places[n] = row, 1 if alone else NOISE_PLACES[np.random.randint(NOISE_PLACES.shape[0])]
                    n += 1
        total = text_vector(kept_rows, kept_places, n, table, weight, place_weight, vector)
        d_vector[:] = 0.0
        label, share = labels[e], shares[e]
        for s in range(step_start[label], step_start[label + 1]):
            branch = steps[s, 0]
            options = option_rows[option_start[branch] : option_start[branch + 1]]
            losses += softmax_step(options, steps[s, 1], share if branch == 0 else share * deep, vector, out, bias, out_seen, bias_seen, rate, d_vector, scores)
        for k in range(n):
            row = kept_rows[k]
            g = math.exp(weight[row] + place_weight[kept_places[k]]) / total
            square, towards = 0.0, 0.0
            for i in range(dims):
                gradient = SCALE * g * d_vector[i]
                square += gradient * gradient
                towards += d_vector[i] * (SCALE * table[row, i] - vector[i])
            table_seen[row] += square / dims
            step = rate / math.sqrt(table_seen[row] + 1e-8)
            for i in range(dims):
                table[row, i] -= step * (SCALE * g * d_vector[i] + pull * (table[row, i] - home[row, i]))
            slope = g * towards
            weight_seen[row] += slope * slope
            weight[row] -= rate * 0.3 * slope / math.sqrt(weight_seen[row] + 1e-4)
            place_seen[kept_places[k]] += slope * slope
            place_weight[kept_places[k]] -= rate * 0.3 * slope / math.sqrt(place_seen[kept_places[k]] + 1e-4)
    return losses / order.shape[0]


@njit(cache=True)
def vectors(rows, places, counts, table, weight, place_weight):
    found = np.zeros((rows.shape[0], table.shape[1]), np.float32)
    for e in range(rows.shape[0]):
        text_vector(rows[e], places[e], counts[e], table, weight, place_weight, found[e])
    return found
