"""Serve a tiny language model with random weights by llama.cpp, on this machine only.

It answers at random, but always the same to the same prompt: enough to try the chat protocol
without a download. Run as ``python tiny_llama.py PORT FOLDER``; the environment variable
TINY_LLAMA_KEY has the API key, if there is one.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

WORDS = ["yes", "no", "maybe", "invite", "reject"]
WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}"
    "{% endfor %}assistant: "
)
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def write_model(path: Path, seed: int = 0) -> Path:
    """Write a model of llama's architecture with random weights and a vocabulary of bytes."""
    from gguf import GGUFWriter

    letters = [chr(code) for code in range(33, 127)]
    tokens = ["<unk>", "<s>", "</s>", *[f"<0x{byte:02X}>" for byte in range(256)], "▁"]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, NORMAL]
    more = [*letters, *WORDS]
    tokens, kinds = [*tokens, *more], [*kinds, *[NORMAL] * len(more)]
    writer = GGUFWriter(str(path), "llama")
    writer.add_name("tiny-llama")
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    _add_weights(writer, len(tokens), np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_weights(writer: object, size: int, rng: np.random.Generator) -> None:
    shapes = {"token_embd": (size, WIDTH), "output": (size, WIDTH)}
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{layer}.{name}"] = (WIDTH, WIDTH)
        shapes[f"blk.{layer}.ffn_gate"] = shapes[f"blk.{layer}.ffn_up"] = (INNER, WIDTH)
        shapes[f"blk.{layer}.ffn_down"] = (WIDTH, INNER)
    for name, shape in shapes.items():
        weights = rng.normal(0, 1 if name == "token_embd" else shape[1] ** -0.5 * 2, shape)
        if name == "output":
            weights[-len(WORDS) :] *= 1.5  # makes words more likely than letters
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    inner = [f"blk.{at}.{of}_norm" for at in range(LAYERS) for of in ("attn", "ffn")]
    for name in ("output_norm", *inner):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))


def serve(port: int, folder: Path) -> None:
    """Serve the model until the process ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(write_model(folder / "tiny.gguf"))
    params.model_alias = {"tiny-llama"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 2048
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = 1
    params.api_keys = [key] if (key := os.environ.get("TINY_LLAMA_KEY")) else []
    server = xllamacpp.Server(params)
    print(f"listening at {server.listening_address}", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
