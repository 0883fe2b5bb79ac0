#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""
status_page.py check URL [WORD...]: opens the status page as people do, light and dark, at 100, 200 and 400 %, and tells
what is wrong with it; each WORD must be there to be read.
status_page.py picture URL SCHEME:WIDTH:FILE...: what it looks like.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser  # noqa: E402

# Every run of text with its contrast against what is behind it (WCAG 2.2, 1.4.3), as computed styles have it; and of
# what is drawn, with the card behind it (1.4.11).
CONTRASTS = """
const channels = color => color.match(/[\\d.]+/g).map(Number);
const luminance = color => {
	const [r, g, b] = channels(color).slice(0, 3).map(v => v / 255)
		.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = element => {
	for (let at = element; at; at = at.parentElement) {
		const found = channels(getComputedStyle(at).backgroundColor);
		if (found.length < 4 || found[3] === 1) return getComputedStyle(at).backgroundColor;
		if (found[3] > 0) throw new Error('half transparent: ' + at.outerHTML);
	}
	return 'rgb(255, 255, 255)';
};
const contrast = (one, other) => {
	const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
};
const all = [];
for (const element of document.body.querySelectorAll('*')) {
	const texts = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
	const style = getComputedStyle(element);
	for (const text of texts)
		all.push([text.data.trim(), contrast(style.color, ground(element)), 4.5, style.opacity]);
	if (element.matches('td') && getComputedStyle(element, '::before').content !== 'none')
		all.push([element.dataset.column, contrast(getComputedStyle(element, '::before').color, ground(element)), 4.5, '1']);
	if (element.matches('path:not(.ground)'))
		all.push(['path ' + element.className.baseVal, contrast(style.fill, ground(element)), 3, style.opacity]);
}
return all;
"""

# What the page is made of, and what must not be in it.
STRUCTURE = """
const headings = [...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1]);
const wrong = [];
const must = (what, holds) => { if (!holds) wrong.push(what); };
must('lang', document.documentElement.lang === 'en');
must('a title', document.title.length > 0);
must('standards mode', document.compatMode === 'CSS1Compat');
must('one h1, which comes first', headings[0] === 1 && headings.filter(level => level === 1).length === 1);
must('no heading skips a level', headings.every((level, i) => i === 0 || level <= headings[i - 1] + 1));
must('one main', document.querySelectorAll('main').length === 1);
must('each header cell has a scope', [...document.querySelectorAll('th')].every(th => th.scope === 'col' || th.scope === 'row'));
must('each table has a caption', [...document.querySelectorAll('table')].every(table => table.caption));
must('each row has as many cells as there are columns', [...document.querySelectorAll('table')].every(
	table => [...table.rows].every(row => row.cells.length === table.rows[0].cells.length)));
must('each picture has a text', [...document.querySelectorAll('svg')].every(svg => svg.getAttribute('role') === 'img' &&
	svg.getAttribute('aria-label').length > 20));
must('each section has a name', [...document.querySelectorAll('section')].every(
	section => document.getElementById(section.getAttribute('aria-labelledby')).textContent.length > 0));
must('no id is there twice', new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size ===
	document.querySelectorAll('[id]').length);
must('nothing runs or is loaded', !document.querySelector('script, img, iframe, object, embed, link, form, base, [src], [href]') &&
	![...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name === 'style')));
must('one style sheet, which is in force', document.styleSheets.length === 1 && document.styleSheets[0].cssRules.length > 20);
return wrong;
"""

# Does it fit: no scrolling sideways, nothing that sticks out, nothing clipped.
FIT = """
const width = document.documentElement.clientWidth;
const wide = [...document.body.querySelectorAll('*')].filter(e => !e.closest('thead') &&
	(e.getBoundingClientRect().right > width + 1 || e.getBoundingClientRect().left < -1));
return [document.documentElement.scrollWidth - width, wide.map(e => e.outerHTML.slice(0, 80))];
"""


def check(url, words):
    problems = []

    def must(holds, what):
        if not holds:
            problems.append(what)

    with Browser() as browser:
        for scheme in ("light", "dark"):
            for zoom in (1, 2, 4):
                where = f"{scheme}, {zoom}00 %: "
                browser.look(scheme, zoom=zoom)
                browser.open(url)
                problems += [where + what for what in browser.run(STRUCTURE)]
                contrasts = browser.run(CONTRASTS)
                must(len(contrasts) > 20, where + "hardly any text")
                for text, found, least, opacity in contrasts:
                    must(found >= least and opacity == "1", f"{where}contrast {found:.2f} of {text!r}")
                excess, wide = browser.run(FIT)
                must(excess <= 0 and not wide, f"{where}{excess} pixels too wide: {wide}")
                text = browser.run("return document.body.innerText")
                for word in words:
                    must(word in text, f"{where}{word!r} is not there to be read")
        ground = [browser.run("return getComputedStyle(document.body).backgroundColor")]
        browser.look("light")
        ground.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        must(ground[0] != ground[1], "light and dark look alike")
        for message in browser.console():
            problems.append(f"console: {message['message']}")
        for request in browser.requests():
            must(request == url, f"a request to {request}")
    for problem in dict.fromkeys(problems):
        print(problem)
    return 1 if problems else 0


def picture(url, shots):
    with Browser() as browser:
        for shot in shots:
            scheme, width, path = shot.split(":", 2)
            browser.look(scheme, width=int(width))
            browser.open(url)
            browser.picture(path)
    return 0


if __name__ == "__main__":
    sys.exit({"check": check, "picture": picture}[sys.argv[1]](sys.argv[2], sys.argv[3:]))
