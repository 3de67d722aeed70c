"""The two encoders as PyTorch modules: a small BERT, and a table of rows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The deep encoder's size. The defaults are MiniLM's own; the tests use a tiny one."""

    vocab: int = 30522
    hidden: int = 384
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    layers: int = 6
    dims: int = 384


class Layer(nn.Module):
    """One transformer block, normalised after each half, as BERT does it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query = nn.Linear(shape.hidden, shape.hidden)
        self.key = nn.Linear(shape.hidden, shape.hidden)
        self.value = nn.Linear(shape.hidden, shape.hidden)
        self.out = nn.Linear(shape.hidden, shape.hidden)
        self.out_norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.up = nn.Linear(shape.hidden, shape.inner)
        self.down = nn.Linear(shape.inner, shape.hidden)
        self.down_norm = nn.LayerNorm(shape.hidden, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        def split(y: Tensor) -> Tensor:
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        if torch.onnx.is_in_onnx_export():
            # Spelled out, so that the exported graph holds only plain operators.
            weights = torch.softmax(q @ k.transpose(2, 3) * (q.shape[-1] ** -0.5) + bias, dim=-1)
            mixed = weights @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, bias.to(q.dtype))
        x = self.out_norm(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.down_norm(x + self.down(F.gelu(self.up(x))))


class Deep(nn.Module):
    """Tokens to a unit vector: BERT, the mean over all tokens, a projection without bias, length one."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocab, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.project = nn.Linear(shape.hidden, shape.dims, bias=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        seen = mask.to(self.norm.weight.dtype)
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)))
        bias = (1.0 - seen)[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        mean = (x * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
        vector = self.project(mean.to(self.project.weight.dtype))
        return vector / vector.pow(2).sum(1, keepdim=True).sqrt().clamp_min(1e-9)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        weights = {name: tensor.detach().half().cpu().contiguous() for name, tensor in self.state_dict().items()}
        save_file(weights, path, metadata={"shape": json.dumps(asdict(self.shape))})

    @classmethod
    def load(cls, path: Path) -> Deep:
        from safetensors import safe_open

        with safe_open(path, "pt") as file:
            shape = Shape(**json.loads(file.metadata()["shape"]))
        model = cls(shape)
        model.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
        return model


_BLOCK = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "out_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "down_norm": "output.LayerNorm",
}


def load_minilm(path: Path) -> Deep:
    """all-MiniLM-L6-v2 from its safetensors file, token type 0 folded into the positions, projecting to itself."""
    source = {name: tensor.float() for name, tensor in load_file(path).items()}
    model = Deep(Shape())
    mine = {
        "words.weight": source["embeddings.word_embeddings.weight"],
        "places.weight": source["embeddings.position_embeddings.weight"] + source["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": source["embeddings.LayerNorm.weight"],
        "norm.bias": source["embeddings.LayerNorm.bias"],
        "project.weight": torch.eye(model.shape.hidden),
    }
    for index in range(model.shape.layers):
        for name, theirs in _BLOCK.items():
            for part in ("weight", "bias"):
                mine[f"layers.{index}.{name}.{part}"] = source[f"encoder.layer.{index}.{theirs}.{part}"]
    model.load_state_dict(mine)
    return model


def thinned(model: Deep, layers: int) -> Deep:
    """The same encoder with fewer layers, taken evenly from first to last."""
    if layers == model.shape.layers:
        return model
    last = model.shape.layers - 1
    chosen = [round(i * last / (layers - 1)) for i in range(layers)] if layers > 1 else [0]
    small = Deep(Shape(**{**asdict(model.shape), "layers": layers}))
    weights = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("layers.")}
    for to, source in enumerate(chosen):
        for name, tensor in model.layers[source].state_dict().items():
            weights[f"layers.{to}.{name}"] = tensor
    small.load_state_dict(weights)
    return small


def between(one: Deep, other: Deep, share: float) -> Deep:
    """Weights on the straight line between two models of the same shape: `share` of the first, the rest of the other."""
    mixed = Deep(one.shape)
    theirs = other.state_dict()
    mixed.load_state_dict({name: share * mine + (1 - share) * theirs[name] for name, mine in one.state_dict().items()})
    return mixed


class Instant(nn.Module):
    """Rows to a unit vector: their sum, brought to length one. Frequent words learn short rows, telling ones long."""

    def __init__(self, rows: int, dims: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(rows, dims))

    def forward(self, rows: Tensor, starts: Tensor) -> Tensor:
        summed = F.embedding_bag(rows, self.table, starts, mode="sum")
        return summed / summed.pow(2).sum(1, keepdim=True).sqrt().clamp_min(1e-9)
