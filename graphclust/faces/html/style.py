"""How the page looks: light or dark as the reader has it, one column that fits a phone."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f4f5f7; --text: #1b1d21; --soft: #555b66; --line: #d3d7de; --mark: #0b5cad; --on-mark: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171b; --card: #1f2228; --text: #e9ebee; --soft: #b1b7c1; --line: #3b404a; --mark: #6db3f2;
    --on-mark: #111;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; }
p, figcaption, footer { color: var(--soft); }
p, li { overflow-wrap: anywhere; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; margin: 1rem 0; }
dl.figures div { background: var(--card); border-radius: 0.5rem; padding: 0.6rem 0.8rem; }
dt { color: var(--soft); font-size: 0.85rem; }
dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--mark); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
th.word, td.word { text-align: left; min-width: 9rem; overflow-wrap: anywhere; }
tbody th { color: var(--text); }
.bar { display: block; height: 0.3rem; margin-top: 0.15rem; border-radius: 0.15rem; background: var(--mark); }
details.members { border-bottom: 1px solid var(--line); padding: 0.2rem 0; }
details.members summary { cursor: pointer; }
details.members ul { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; list-style: none; margin: 0; padding: 0; }
details.members li.hit { background: var(--mark); color: var(--on-mark); border-radius: 0.2rem; padding: 0 0.2rem; }
input { font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--line); max-width: 100%; }
a { color: var(--mark); }
figure { margin: 0; }
figure img, figure svg { display: block; width: 100%; max-width: 38rem; height: auto; margin: 0 auto 0.5rem; }
figure img { border: 1px solid var(--line); image-rendering: pixelated; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .links line { stroke: var(--soft); stroke-opacity: 0.45; }
svg text.cluster { fill: var(--mark); font-weight: 600; }
svg.chart polyline { fill: none; stroke: var(--soft); stroke-width: 1.2; }
svg.chart circle { fill: var(--mark); }
svg.chart line { stroke: var(--mark); stroke-width: 1.5; }
svg.chart line.chosen { stroke: var(--soft); stroke-dasharray: 4 4; }
svg.icicle rect { fill: var(--mark); }
svg .disks circle { fill: var(--mark); stroke: var(--page); stroke-width: 1.5; }
svg .disks text { fill: var(--on-mark); text-anchor: middle; dominant-baseline: central; }
"""
