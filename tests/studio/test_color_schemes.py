"""Both color schemes of the pages and of the report: contrast as WCAG 2.2 asks for at level AA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_visits import FILM_MS, SMALL, agree, entered
from playwright.sync_api import Browser, Page, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started

from interplay.episodes.episode import Mark, Utterance
from interplay.episodes.store import EpisodeStore

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "platform" / "studio" / "static"
REPORT = ROOT / "platform" / "evaluation" / "templates" / "report.css"
TEXT, GRAPHIC = 4.5, 3.0  # least contrast of text, and of what is seen without being read
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\((?!var)|:\s*(?:black|white)\b")
CONTRASTS = """() => {
  const MARKS = '.progress, .slip, .setter, .solver, .full';
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((value, i) => a * value + (1 - a) * under[i]);
  const light = (color) => {
    const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = color.map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      layers.push(rgba(getComputedStyle(each).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const found = [];
  const add = (kind, element, color, ground, name) => found.push({
    kind, name: `${element.tagName} ${element.id} ${element.className.baseVal ?? element.className} ${name}`,
    ratio: ratio(over(rgba(color), ground), ground),
  });
  const isOff = (element) => element.closest(':disabled, [inert]');
  for (const element of document.querySelectorAll('body, body *')) {
    if (!element.checkVisibility() || isOff(element)) continue;
    const style = getComputedStyle(element);
    const text = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
    if (element instanceof SVGElement) {
      const ground = behind(element.closest('.card'));
      if (element.matches('text')) add('text', element, style.fill, ground, element.textContent);
      else if (element.matches(MARKS)) add('graphic', element, style.fill, ground, '');
      else if (element.matches('.cursor')) add('graphic', element, style.stroke, ground, '');
    } else if (text.length && !element.closest('.view, .stage, .skip')) {
      add('text', element, style.color, behind(element), text[0].textContent.trim());
    }
    if (element.matches('input, select, textarea, button, .button')) {
      const ground = behind(element.parentElement);
      const fill = ratio(behind(element), ground);
      if (fill < 3 && style.borderTopWidth !== '0px') add('graphic', element, style.borderTopColor, ground, 'border');
      const hint = getComputedStyle(element, '::placeholder').color;
      if (element.placeholder) add('text', element, hint, behind(element), 'placeholder');
    }
    if (element.matches('a, button, input, select, textarea, [tabindex="0"]')) {
      element.focus({ preventScroll: true });
      const ring = getComputedStyle(element);
      if (element.matches('.skip')) add('text', element, ring.color, behind(element), 'in sight');
      if (element.matches(':focus-visible')) {
        if (ring.outlineStyle === 'none') found.push({ kind: 'focus', name: `${element.id} has no ring`, ratio: 0 });
        else add('focus', element, ring.outlineColor, behind(element.parentElement), 'ring');
      }
    }
  }
  document.activeElement.blur();
  return found;
}"""


def schemes(css: str) -> dict[str, dict[str, str]]:
    """The colors of a stylesheet's variables in both schemes."""
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    of_light, of_dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-fA-F]+)", block)) for block in (light, dark))
    return {"light": of_light, "dark": of_light | of_dark}


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG between two colors, from 1 to 21."""

    def luminance(color: str) -> float:
        digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
        parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def too_faint(colors: dict[str, str], over: str, least: float, *names: str) -> list[str]:
    """Those of the named colors that stand out too little from the color `over`."""
    found = {name: contrast(colors[name], colors[over]) for name in names}
    return [f"{name} on {over}: {ratio:.2f}" for name, ratio in found.items() if ratio < least]


def test_the_colors_of_the_pages_contrast_in_both_schemes() -> None:
    texts = ("ink", "soft", "blue", "blue-strong", "orange", "orange-strong", "green")
    for scheme, colors in schemes((STATIC / "base.css").read_text()).items():
        faint = [
            each
            for ground in ("paper", "ground", "plain", "blue-soft", "orange-soft", "green-soft", "yellow-soft")
            for each in too_faint(colors, ground, TEXT, *texts) + too_faint(colors, ground, GRAPHIC, "edge", "focus")
        ]
        faint += too_faint(colors, "paper", TEXT, "setter", "solver")
        faint += too_faint(colors, "paper", GRAPHIC, "world", "loaded")
        for fill in ("blue", "blue-strong", "orange", "orange-strong"):
            faint += too_faint(colors, fill, TEXT, "on-fill")
        for ground in ("bar", "bar-plain", "bar-current"):
            faint += too_faint(colors, ground, TEXT, "bar-ink", "bar-soft", "bar-focus")
        assert not faint, scheme


def test_the_colors_of_the_report_contrast_in_both_schemes() -> None:
    for scheme, colors in schemes(REPORT.read_text()).items():
        faint = [too_faint(colors, ground, TEXT, "ink", "soft", "accent") for ground in ("page", "card")]
        assert faint == [[], []], scheme


def test_every_color_of_the_pages_is_a_variable() -> None:
    """A literal color would stay as it is in the other scheme."""
    found = []
    for sheet in STATIC.glob("*.css"):
        rules = re.sub(r":root \{.*?\}", "", sheet.read_text(), flags=re.DOTALL)
        found += [f"{sheet.name}: {line.strip()}" for line in rules.splitlines() if COLOR.search(line)]
    assert not found


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    """A studio with recordings that two raters have marked."""
    root = tmp_path_factory.mktemp("run")
    said = tuple(Utterance(8 * n, role, "to the duck") for n, role in enumerate(("setter", "solver")))
    first, *_ = fill_store(root, 2, said)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(first, f"rater-{n}", 9 + n, sign) for n in range(2) for sign in (1, -1)])
    with started(root, ENV, SMALL) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser."""
    with entered(browser, studio) as first:
        yield first


@pytest.mark.browser
@pytest.mark.slow
def test_the_pages_follow_the_color_scheme_of_the_browser(page: Page, studio: StartedStudio) -> None:
    def check(place: str) -> None:
        """Measures the page in both schemes."""
        page.keyboard.press("Tab")  # after a click, browsers show no ring around what the page focuses
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
            found = page.evaluate(CONTRASTS)
            kinds = {each["kind"] for each in found}
            assert {"text", "focus"} <= kinds, f"{place} {scheme}"
            faint = [each for each in found if each["ratio"] < (TEXT if each["kind"] == "text" else GRAPHIC)]
            assert not faint, f"{place} {scheme}"
        background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert max(int(part) for part in re.findall(r"\d+", background)) < 40, f"{place} is dark"

    for place, there in {
        "": "[data-testid=study-marks]",
        "i": "main h1",
        "consent?study=marks": "[data-testid=statement-0]",
        "consent?study=live": "[data-testid=statement-0]",
        "data": "[data-testid=download]",
        "desk/studies": "[data-testid=people] td",
    }.items():
        page.goto(f"{studio.origin}/{place}")
        expect(page.locator(there).first).to_be_visible()
        check(place)
    page.goto(f"{studio.origin}/consent?study=live")
    page.get_by_test_id("statement-0").check()
    page.get_by_test_id("agree").click()
    page.get_by_test_id("practice").click()
    expect(page.locator("#keys dt").first).to_be_visible(timeout=FILM_MS)
    expect(page.locator("#overlay")).to_be_empty(timeout=FILM_MS)
    check("play")
    agree(page, studio)
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    check("mark")
    page.goto(f"{studio.origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.get_by_test_id("finish")).to_be_enabled()
    check("quality")
