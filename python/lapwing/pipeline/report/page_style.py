"""The page's style sheet; colours are those of the pictures' two schemes."""

from __future__ import annotations

from lapwing.pipeline.report.style import DARK, LIGHT, Scheme


def _colours(scheme: Scheme) -> str:
    return (
        f"--paper:{scheme.paper};--panel:{scheme.panel};--ink:{scheme.ink};--muted:{scheme.muted};"
        f"--line:{scheme.line};--good:{scheme.good};--bad:{scheme.bad};"
    )


STYLE = (
    f":root{{{_colours(LIGHT)}}}\n@media (prefers-color-scheme:dark){{:root{{{_colours(DARK)}}}}}"
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}
h1{font-size:clamp(1.6rem,4vw,2.3rem);line-height:1.15;margin:0 0 .4rem;letter-spacing:-.015em}
h2{font-size:1.3rem;margin:0 0 .8rem}
header p,figcaption,footer{color:var(--muted)}
header p{margin:0;font-size:1.05rem}
section{margin:2.6rem 0 0;padding-top:1.6rem;border-top:1px solid var(--line)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;list-style:none;
  margin:1.6rem 0 0;padding:0}
.cards li{background:var(--panel);border-radius:.6rem;padding:.8rem 1rem}
.cards b{display:block;font-size:1.45rem;line-height:1.2;font-variant-numeric:tabular-nums}
.cards span{color:var(--muted);font-size:.85rem}
.cards .good b{color:var(--good)}
.cards .bad b{color:var(--bad)}
figure{margin:0}
img{display:block;width:100%;height:auto;border:1px solid var(--line);border-radius:.6rem}
figcaption{margin-top:.7rem;max-width:62rem}
.scroll{overflow-x:auto}
figure+.scroll,.scroll+.scroll{margin-top:1.1rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.45rem .8rem;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--muted);font-weight:600;white-space:normal;vertical-align:bottom;min-width:4.2rem}
td:first-child,th:first-child{padding-left:0}
.word{text-align:left}
.figure{text-align:right}
footer{margin-top:3rem;padding-bottom:3rem;font-size:.88rem}
@media (max-width:40rem){
  header{padding-top:1.5rem}
  img{min-width:44rem}
}
"""
)
