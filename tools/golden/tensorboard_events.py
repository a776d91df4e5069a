"""An event file by TensorBoard's own classes: python tensorboard_events.py

Needs the package tensorboard; nothing else in this project does."""

import pathlib
import struct

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
SCALARS = (
    ("train/loss", 1, 0.5, 5.5),
    ("train/loss", 300, 1.5, 0.25),
    ("train/gradient_norm", 1, 0.5, 1.0),
    ("train/gradient_norm", 300, 1.5, 2.0),
    ("train/gradient_norm", 301, 2.0, 3.0),
    ("validation/loss", 300, 1.5, 0.375),
)


def record(event):
    data = event.SerializeToString()
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


out = record(event_pb2.Event(wall_time=0.0, file_version="brain.Event:2"))
for tag, step, wall_time, value in SCALARS:
    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, simple_value=value)])
    out += record(event_pb2.Event(wall_time=wall_time, step=step, summary=summary))
(FOLDER / "tensorboard.tfevents").write_bytes(out)
