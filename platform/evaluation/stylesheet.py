"""The report's look: one column that widens with the screen, light or dark as the reader's system is."""

STYLESHEET = """
:root { --ink: #1c2733; --soft: #5b6876; --grid: #cfd8e0; --page: #fbfcfd; --card: #fff; --accent: #2673b0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf0; --soft: #9aa8b5; --grid: #3b4754; --page: #12171d; --card: #1a212a; --accent: #6fb3e8; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 1.2rem clamp(.8rem, 3vw, 2rem) 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1.2rem 0; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 0 0 .8rem; }
h3 { font-size: 1rem; margin: 0; }
section > h3 { margin-top: 1.6rem; }
section { margin: 2.6rem 0; }
.cards { display: flex; flex-wrap: wrap; gap: .9rem; margin: 0; }
.card { flex: 1 1 290px; background: var(--card); border: 1px solid var(--grid); border-radius: 10px;
  padding: 1rem 1.1rem; }
.card p { margin: 0; font-size: .9rem; color: var(--soft); }
.card .label { font-weight: 600; color: var(--ink); }
.card .number { font-size: 1.6rem; font-weight: 700; color: var(--accent); line-height: 1.3; margin: .2rem 0 .4rem;
  font-variant-numeric: tabular-nums; }
.card.missing .number { color: var(--soft); font-weight: 400; }
p.missing { color: var(--soft); border-left: 3px solid var(--grid); padding: .3rem .8rem; margin: 0; }
.episode { margin: 0 0 1.8rem; }
.outcome { font-weight: 400; color: var(--soft); margin-left: .5rem; }
.speech { margin: .2rem 0 .5rem; font-style: italic; }
.strip { display: flex; gap: .5rem; overflow-x: auto; padding-bottom: .4rem; }
.frame { margin: 0; flex: 1 0 120px; max-width: 240px; }
.frame img { width: 100%; display: block; image-rendering: pixelated; border-radius: 4px;
  border: 1px solid var(--grid); }
figcaption, .caption { font-size: .82rem; color: var(--soft); line-height: 1.4; margin: .3rem 0 0; }
.frame figcaption { white-space: pre-wrap; }
.plots { display: grid; gap: 1.2rem 1.6rem; margin: .6rem 0 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); }
.plot { margin: 0; min-width: 0; }
.plot.wide { grid-column: 1 / -1; max-width: 860px; overflow-x: auto; }
.plot svg { width: 100%; height: auto; display: block; }
.plot.wide svg { min-width: 520px; }
.plot svg text { font-family: inherit !important; }
.legend { margin: 0 0 .2rem; font-size: .9rem; }
.key { display: inline-flex; vertical-align: middle; align-items: center; margin-right: 1.2rem; }
.key i { width: .9rem; height: .9rem; border-radius: 3px; margin-right: .4rem; }
.key i.dashed { height: 0; width: 1.2rem; border-radius: 0; border-top: 2px dashed var(--ink); }
.scroll { overflow-x: auto; margin: .6rem 0 1.4rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem 1.1rem .35rem 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
td:nth-child(n + 2) { min-width: 4.6rem; }
td:last-child:nth-child(n + 3) { min-width: 7rem; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
details { margin: .6rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; font-size: .82rem; background: var(--card); border: 1px solid var(--grid); border-radius: 8px;
  padding: .8rem; }
@media print { :root { --page: #fff; } section { break-inside: avoid; } }
"""
