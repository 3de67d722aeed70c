"""The deep encoder as a PyTorch module: a small BERT."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from .rounding import rounded_activation, rounded_table, rounded_weight


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

    def forward(self, x: Tensor, bias: Tensor, seen: Tensor, as_int8: bool) -> Tensor:
        def split(y: Tensor) -> Tensor:
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        def into(y: Tensor) -> Tensor:
            return rounded_activation(y, seen) if as_int8 else y

        def through(linear: nn.Linear, y: Tensor) -> Tensor:
            return F.linear(y, rounded_weight(linear.weight), linear.bias) if as_int8 else linear(y)

        read = into(x)
        q, k, v = split(through(self.query, read)), split(through(self.key, read)), split(through(self.value, read))
        if torch.onnx.is_in_onnx_export():
            # Spelled out, so that the exported graph holds only plain operators.
            weights = torch.softmax(q @ k.transpose(2, 3) * (q.shape[-1] ** -0.5) + bias, dim=-1)
            mixed = weights @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, bias.to(q.dtype))
        x = self.out_norm(x + through(self.out, into(mixed.transpose(1, 2).flatten(2))))
        return self.down_norm(x + through(self.down, into(F.gelu(through(self.up, into(x))))))


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
        self.as_int8 = False
        """Whether to round as the exported file does, so that training learns to live with it."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        seen = mask.to(self.norm.weight.dtype)
        words = F.embedding(ids, rounded_table(self.words.weight)) if self.as_int8 else self.words(ids)
        places = self.places(torch.arange(ids.shape[1], device=ids.device))
        x = self.norm(words + (rounded_table(places) if self.as_int8 else places))
        bias = (1.0 - seen)[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = layer(x, bias, seen, self.as_int8)
        whole = (x * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
        whole = whole.to(self.project.weight.dtype)
        if self.as_int8:
            whole = rounded_activation(whole[:, None], torch.ones_like(whole[:, :1]))[:, 0]
        vector = F.linear(whole, rounded_weight(self.project.weight)) if self.as_int8 else self.project(whole)
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


def between(one: Deep, other: Deep, share: float) -> Deep:
    """Weights on the straight line between two models of the same shape: `share` of the first, the rest of the other."""
    mixed = Deep(one.shape)
    theirs = other.state_dict()
    mixed.load_state_dict({name: share * mine + (1 - share) * theirs[name] for name, mine in one.state_dict().items()})
    return mixed
