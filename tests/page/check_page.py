#!/usr/bin/env python3
"""Opens reports in headless Chromium: check_page.py PROGRAM. Needs Debian's chromium, chromium-driver, python3-selenium.

A report of a tiny study, made before, during and after its runs, must show without errors and without the network, on a
phone, in the dark and on paper; its legend, zoom and pointer must work; its table must have the numbers of results.csv.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

import tiny_studies

DASH = "–"
SIZES = ("parameters", "parameters_without_embeddings", "training_flops", "tokens")  # shown as whole numbers


class Page:
    """A report in a browser that must not complain."""

    def __init__(self, browser, folder: Path):
        self.browser = browser
        self.name = folder.name
        browser.get((folder / "report.html").as_uri())
        self.drawn_ms = None
        for _ in range(600):
            self.drawn_ms = self.js("return document.documentElement.dataset.drawn")
            if self.drawn_ms:
                break
            time.sleep(0.1)
        self.check(self.drawn_ms is not None, "did not draw to its end")

    def js(self, script: str, *arguments):
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def check(self, holds: bool, what: str):
        if not holds:
            self.fail_on_complaints()
            raise AssertionError(f"{self.name}: {what}")

    def fail_on_complaints(self):
        complaints = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        if complaints:
            raise AssertionError(f"{self.name}: the console says: " + "; ".join(complaints))

    def media(self, **features):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def width(self, width: int, height: int):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Named, so that no release of selenium looks for its own downloads.
    options.binary_location = shutil.which("chromium")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def check_alone(page: Page):
    fetched = page.js("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    page.check(fetched == [], f"fetched {fetched}")


def check_first_screen(page: Page):
    for selector in ("#question", "#answer", "#progress"):
        box = page.find(selector)
        page.check(box.text != "" and box.rect["y"] < 900, f"{selector} is not on the first screen")
    page.check("<b>pre</b>" in page.find("#question").text, "the question is read as HTML")


def check_verdicts(page: Page):
    """Each arm has a line with a word, and the first screen holds them all."""
    table = page.find("#verdict table")
    page.check(table.rect["y"] + table.rect["height"] < 900, "the verdicts are not on the first screen")
    arms = page.js("return [...document.querySelectorAll('#verdict tbody th')].map((name) => name.textContent.split(' at ')[0])")
    page.check(arms == page.js("return study.arms.map(({name}) => name)"), f"has verdicts of {arms}")
    words = page.js("return [...document.querySelectorAll('#verdict tbody .word')].map((word) => word.textContent)")
    page.check(words == page.js("return study.judgement.best_against_best.map(({verdict}) => verdict)"), f"has the words {words}")


def check_legend(page: Page):
    drawn = "return curveChart.graph ? curveChart.graph.numColumns() - 1 : 0"
    first = page.js(drawn)
    button = page.find('#legend [data-arm="pre"]')
    button.click()
    page.check(page.find('#legend [data-arm="pre"]').get_attribute("aria-pressed") == "false", "the arm is still on")
    page.check(page.js(drawn) < first, "the arm that is off is still drawn")
    page.check("pre" not in [row.text for row in page.browser.find_elements(By.CSS_SELECTOR, "#curve-values th")], "is in the values")
    page.find('#legend [data-arm="pre"]').click()
    page.check(page.js(drawn) == first, "the arm that is on again is not drawn")


def check_chart(page: Page):
    chart = page.find("#curve-chart")
    page.js("arguments[0].scrollIntoView({block: 'center'})", chart)
    ActionChains(page.browser).move_to_element(chart).perform()
    page.check(page.find("#curve-values caption").text.startswith("At steps"), "no values under the pointer")
    whole = page.js("return curveChart.graph.xAxisRange()")
    ActionChains(page.browser).move_to_element(chart).click_and_hold().move_by_offset(120, 0).release().perform()
    zoomed = page.js("return curveChart.graph.xAxisRange()")
    page.check(zoomed[1] - zoomed[0] < 0.6 * (whole[1] - whole[0]), f"dragging does not zoom: {whole} to {zoomed}")
    page.find("#curve-controls button").click()
    page.check(page.js("return curveChart.graph.xAxisRange()") == whole, "the whole range does not come back")
    for box in page.browser.find_elements(By.CSS_SELECTOR, "#curve-controls input"):
        box.click()
    for select in page.browser.find_elements(By.CSS_SELECTOR, "#curve-controls select, #norm-controls select, #probe-controls select, #legend select"):
        for value in [option.get_attribute("value") for option in select.find_elements(By.TAG_NAME, "option")]:
            page.js("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", select, value)
    page.fail_on_complaints()


def check_probes(page: Page):
    """Every layer has a line, and every arm its growth over depth."""
    page.check(page.js("return probeChart.graph.numColumns() > 2"), "draws nothing of what the runs saw inside")
    arms = page.js("return [...document.querySelectorAll('#probe-table tbody th')].map((name) => name.textContent)")
    page.check(arms == page.js("return probedRows.map(rowLabel)") and len(arms) > 1, f"has the growth of {arms}")


def check_samples(page: Page):
    """The texts of the runs that have one, as they are, and one for each row."""
    shown = page.js("return [...document.querySelectorAll('#sample-texts blockquote')].map((text) => text.textContent)")
    wanted = page.js("return sampledRuns.map(([, {sample}]) => sample.prompt + sample.text)")
    page.check(shown == wanted and len(shown) > 0, f"shows {shown} for {wanted}")
    page.check(all(text.startswith("Once <i>") for text in shown), "reads a text as HTML")


def check_numbers(page: Page, results: Path):
    """Every number of results.csv that the page shows has its last digit, and is shown rounded; an empty one is a dash."""
    rows = list(csv.DictReader(results.open()))
    lines = page.js("""return [...document.querySelectorAll('#results-table tbody tr')].map((line) => Object.fromEntries(
        [...line.cells].map((cell) => [cell.dataset.column, [cell.dataset.value ?? null, cell.textContent]])))""")
    page.check(len(lines) == len(rows), f"has {len(lines)} rows, results.csv {len(rows)}")
    compared = 0
    for line, row in zip(lines, rows):
        page.check(line["arm"][1] == row["arm"] and line["status"][1] == row["status"], f"has {line} for {row}")
        for column, (value, text) in line.items():
            if column in ("arm", "status", "spike_score_mean") or column.startswith("train."):
                continue
            wanted = row[column]
            if wanted == "":
                page.check(value is None and text == DASH, f"{row['arm']}: {column} is {text}, not a dash")
                continue
            page.check(value is not None and float(value) == float(wanted), f"{row['arm']}: {column} is {value}, not {wanted}")
            shown, whole = float(text.replace(",", "")), column in SIZES or column == "tokens_per_s_mean"
            close = abs(shown / float(wanted) - 1) < 1e-2 if "e" in text else abs(shown - float(wanted)) < (0.51 if whole else 0.000051)
            page.check(close, f"{column} is shown as {text}, and is {wanted}")
            compared += 1
    return compared


def check_screens(page: Page, colours: str):
    """`colours`: what differs in the dark, as an expression of the page's."""
    page.media(prefers_color_scheme="light")
    light = page.js(f"return {colours}")
    page.media(prefers_color_scheme="dark")
    page.check(page.js(f"return {colours}") != light, "is the same in the dark")
    page.width(390, 844)
    overflow = page.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    page.check(overflow <= 0, f"is {overflow} px too wide for a phone")
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.media(prefers_color_scheme="light")


def check_medium(page: Page):
    check_screens(page, "getComputedStyle(document.body).backgroundColor")
    page.media(prefers_color_scheme="dark")
    printed = page.browser.execute_cdp_cmd("Page.printToPDF", {})["data"]
    page.check(len(printed) > 10_000 and page.js("return onPaper") is False, "does not print")
    page.media(prefers_color_scheme="light")


def check_nothing_is_zero(page: Page):
    """Before the runs every cell of a measure is a dash, and nothing is drawn."""
    texts = page.js("return [...document.querySelectorAll('#results-table td.number:not([data-column^=train])')].map((c) => c.textContent)")
    page.check(texts != [] and set(texts) == {DASH}, f"shows {set(texts)} although nothing has run")
    page.check(page.js("return curveChart.graph === null"), "draws a curve although nothing has run")
    page.check("no answer yet" in page.find("#answer").text, "has an answer although nothing has run")


def check(program: Path, folder: Path):
    after = tiny_studies.finished(program, folder)
    folders = [tiny_studies.during(after), tiny_studies.before(after), after]
    big = tiny_studies.large(after)
    subprocess.run([program, "report", *folders, big], check=True, stdout=subprocess.DEVNULL)
    browser = start_browser()
    try:
        for one in folders:
            page = Page(browser, one)
            check_alone(page)
            check_first_screen(page)
            compared = check_numbers(page, one / "results.csv")
            check_medium(page)
            if one.name == "before":
                check_nothing_is_zero(page)
            else:
                check_verdicts(page)
                check_legend(page)
                check_chart(page)
                check_probes(page)
                check_samples(page)
            page.fail_on_complaints()
            print(f"{one.name}: {page.find('#progress').text} {compared} numbers equal results.csv")
        page = Page(browser, big)
        page.check(page.js("return document.querySelectorAll('#run-table tbody tr').length") == 200, "does not list every run")
        heads = page.js("return [...document.querySelectorAll('#run-table thead th')].map((head) => head.textContent.trim())")
        page.check(any("machine" in head for head in heads), f"lists runs of two machines under {heads} only")
        page.check("NOT the same machine" in page.find("#cautions").text, "does not warn of two machines")
        page.fail_on_complaints()
        loaded_ms = page.js("return performance.getEntriesByType('navigation')[0].loadEventEnd")
        print(f"200 runs of 2,000 points: {(big / 'report.html').stat().st_size / 2**20:.1f} MiB, open after {loaded_ms / 1000:.2f} s,"
              f" every chart drawn after {int(page.drawn_ms) / 1000:.2f} s")
    finally:
        browser.quit()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        check(Path(sys.argv[1]).resolve(), Path(scratch))
