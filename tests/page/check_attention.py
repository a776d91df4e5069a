#!/usr/bin/env python3
"""Opens attend's page in headless Chromium: check_attention.py PROGRAM. Needs what check_page.py needs.

The page of a small untrained model must show without errors and without the network, on a phone and in the dark; what it
tells under the pointer must be the weights that attend --json writes; no text of the prompt may be read as HTML."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from check_page import Page, check_alone, check_screens, start_browser
from selenium.webdriver.common.action_chains import ActionChains

MODEL = """\
model: {width: 16, layers: 3, context: 64, block: {attention: {heads: 4}}}
data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}
train: {steps: 3, batch: 4, threads: 1}
"""
PROMPT = "<b>a</b> & </script>é\n'\"\u2028"


def made(program: Path, folder: Path) -> dict:
    """Writes the page as a report of the folder, and returns what --json says."""
    (folder / "run.yaml").write_text(MODEL)
    subprocess.run([program, "train", "run.yaml", "--out", "run", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    command = [program, "attend", "run", "--prompt", PROMPT, "--induction", "--length", "10", "--html", "report.html", "--json", "-"]
    return json.loads(subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)


def check_heads(page: Page, told: dict):
    count = len(told["heads"])
    page.check(page.js("return document.querySelectorAll('#maps canvas').length") == count == 12, "does not have a map of every head")
    rows = page.js("""return [...document.querySelectorAll('#heads tbody tr')].map((line) => Object.fromEntries(
        [...line.cells].filter((cell) => cell.dataset.column).map((cell) => [cell.dataset.column, cell.dataset.value])))""")
    page.check(len(rows) == count, f"lists {len(rows)} heads")
    scores = {(one["layer"], one["head"]): one for one in told["induction"]["heads"]}
    for row, head in zip(rows, told["heads"]):
        wanted = {**scores[head["layer"], head["head"]], **head}
        for column, value in row.items():
            page.check(float(value) == wanted[column], f"has {value} as {column} of {head['layer']}.{head['head']}, not {wanted[column]}")


def check_weights(page: Page, told: dict):
    """Every byte is its weight's, and the pointer tells the weight of the cell that it is on."""
    for number, head in enumerate(told["heads"]):
        bytes_there = page.js("return [...bytesOf(attention.heads[arguments[0]])]", number)
        weights = [weight for row in head["weights"] for weight in row]
        page.check(len(bytes_there) == len(weights), "lacks weights")
        off = max(abs(255 * weight**0.5 - byte) for weight, byte in zip(weights, bytes_there))
        page.check(off <= 0.501, f"a weight of head {number} is off by {off} of 255")
    number = 7
    page.js("showHead(attention.heads[arguments[0]])", number)
    canvas = page.find("#map")
    page.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
    shape = page.js("return shapeOfMap()")
    for query, key in ((5, 2), (11, 11), (12, 0)):
        x, y = (shape["room"] + (at + 0.5) * shape["cell"] for at in (key, query))
        size = canvas.size
        ActionChains(page.browser).move_to_element_with_offset(canvas, int(x - size["width"] / 2), int(y - size["height"] / 2)).perform()
        text = page.find("#pointed").text
        shown = float(text.split(" %")[0]) / 100
        weight = told["heads"][number]["weights"][query][key]
        page.check(f"query {query} " in text and f"key {key} " in text, f"tells {text!r} at query {query}, key {key}")
        page.check(abs(shown - weight) < 0.005, f"tells {shown} at query {query}, key {key}, which is {weight}")


def check_text(page: Page, told: dict):
    page.check(page.js("return [...document.querySelectorAll('#text span')].map((one) => one.textContent)") == told["tokens"], "changes the prompt")
    page.check(page.js("return document.querySelectorAll('#text b').length") == 0, "reads the prompt as HTML")
    page.find("#text span:nth-child(4)").click()
    page.check(page.js("return document.querySelectorAll('#text span.query').length") == 1, "does not hold the query that is clicked")


def check(program: Path, folder: Path):
    told = made(program, folder)
    browser = start_browser()
    try:
        page = Page(browser, folder)
        check_alone(page)
        check_heads(page, told)
        check_weights(page, told)
        check_text(page, told)
        check_screens(page, "getComputedStyle(document.body).backgroundColor + palette()[0]")
        page.fail_on_complaints()
        print(f"{len(told['heads'])} maps of {len(told['tokens'])} tokens: every weight and figure equals --json")
    finally:
        browser.quit()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        check(Path(sys.argv[1]).resolve(), Path(scratch))
