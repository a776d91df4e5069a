"""What every comparison of this folder does: run programs in turn, and say medians with their spread."""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Peer:
    """A process that answers each line with a line of JSON."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE)
        self.first = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"this peer ended: {' '.join(map(str, self.process.args))}")
        return json.loads(line)

    def ask(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sets(values):
    return [part for value in values for part in ("--set", value)]


def write_config(program, path, values, to):
    """The run's config with every default, for peers."""
    with open(to, "w") as out:
        json.dump(json.loads(run([program, "check", path, "--json", *sets(values)]))["config"], out)


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def load():
    return os.getloadavg()[0]
