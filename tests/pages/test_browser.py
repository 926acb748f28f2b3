"""The pages in Chromium: marks are quotes, nothing is loaded from elsewhere, the console is silent, keys suffice."""

import json
import os
import time
from pathlib import Path

import pytest

from evimem.pages.render_html import render_trace_file
from tests.pages.conftest import CHROMIUM, DRIVER

if os.environ.get("EVIMEM_BROWSER") == "none" or not (os.environ.get("CI") or (CHROMIUM and DRIVER)):
    pytest.skip("needs Debian's chromium and chromium-driver", allow_module_level=True)

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WHEN = "When did Mira adopt her puppy?"
ADDRESSES = (
    f"ask?q={WHEN}", "block?q=What+is+Mira+allergic+to%3F&why=s7:9", "find?q=puppy&why=s11:6", "timeline",
    "people?name=Tomas", f"why?q={WHEN}", "compare?q=boat", "import", "corrections", "forget?kind=session&value=s3",
    "health", "turn?id=s1:4", "turns?day=2024-03-12",
)  # fmt: skip
CONTRASTS = (Path(__file__).parent / "contrasts.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for one in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,900"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium, served):
    chromium.get(served)
    chromium.base = served.partition("/?")[0]
    logged(chromium)
    return chromium


def logged(browser):
    """Return the messages of the console, and the addresses asked for, since this was called last."""
    events = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
    return [one["message"] for one in browser.get_log("browser")], asked


def choose_scheme(browser, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def until(said, seconds=5.0):
    """Wait until a function returns something true, and return it."""
    ends = time.monotonic() + seconds
    while not (found := said()) and time.monotonic() < ends:
        time.sleep(0.02)
    return found


def test_pages_load_nothing_from_elsewhere_say_nothing_on_the_console_and_contrast(browser):
    for address in ADDRESSES:
        browser.get(f"{browser.base}/{address}")
        messages, asked = logged(browser)
        assert (address, messages) == (address, [])
        assert [one for one in asked if not one.startswith((browser.base, "data:"))] == []
        for scheme in ("light", "dark"):
            choose_scheme(browser, scheme)
            assert (address, scheme, browser.execute_script(CONTRASTS)) == (address, scheme, [])


def test_each_mark_is_the_quote_of_its_citation(browser, friends):
    for question in (WHEN, "How many pieces did Tomas sell at the craft fair?", "When is the wedding?"):
        browser.get(f"{browser.base}/ask?q={question}")
        marks = [one.get_property("textContent") for one in browser.find_elements(By.TAG_NAME, "mark")]
        assert marks
        assert sorted(marks) == sorted(one.quote for one in friends.ask(question).citations)


def test_the_tab_key_reaches_every_control(browser):
    for address in (f"ask?q={WHEN}", "find?q=puppy", "forget?kind=turn&value=s1:4"):
        browser.get(f"{browser.base}/{address}")
        wanted = browser.execute_script(
            "let all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea')]"
            ".filter(one => one.checkVisibility());"
            "all.forEach((one, place) => one.dataset.place = place); document.activeElement.blur(); return all.length"
        )
        reached = set()
        for _ in range(wanted + 10):
            browser.switch_to.active_element.send_keys(Keys.TAB)
            reached.add(browser.execute_script("return document.activeElement.dataset.place"))
        assert len(reached - {None}) == wanted


def test_a_search_is_swapped_in_and_its_address_is_a_permalink(browser):
    browser.get(f"{browser.base}/find?q=puppy")
    browser.execute_script("window.stays = true")
    field = browser.find_element(By.ID, "q")
    field.clear()
    field.send_keys("boat", Keys.ENTER)
    assert until(lambda: "q=boat" in browser.current_url)
    assert until(lambda: "looked at boats" in browser.page_source)
    assert browser.execute_script("return window.stays")  # the page was not loaded anew
    swapped = browser.find_element(By.ID, "main").text
    browser.get(browser.current_url)
    assert browser.find_element(By.ID, "main").text == swapped
    assert logged(browser)[0] == []


def test_a_turn_is_forgotten_by_its_preview_and_proven(browser, friends):
    browser.get(f"{browser.base}/turn?id=s1:4")
    browser.find_element(By.PARTIAL_LINK_TEXT, "see what goes").click()
    browser.find_element(By.CSS_SELECTOR, "button.danger").click()
    assert until(lambda: "1 id asked for again: 0 found" in browser.page_source)
    assert friends.health().turns == 182


def test_a_trace_as_a_file_needs_nothing_and_is_readable(chromium, friends, tmp_path):
    answer = friends.ask(WHEN)
    file = tmp_path / "why.html"
    file.write_text(render_trace_file(answer.trace, list(friends._core.store.find(["s1:4"]))), encoding="utf-8")
    logged(chromium)
    chromium.get(file.as_uri())
    messages, asked = logged(chromium)
    assert (messages, asked) == ([], [file.as_uri()])
    assert "adopted a puppy" in chromium.find_element(By.ID, "main").text
    assert chromium.execute_script("return getComputedStyle(document.querySelector('.card')).borderRadius") == "12px"
