/** The stylesheet of all sandbox pages: light and dark, with system fonts and no external files. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#faf8f4, #16140f);
  --card: light-dark(#ffffff, #201d17);
  --ink: light-dark(#241f17, #f1ece2);
  --quiet: light-dark(#675e4f, #b1a794);
  --line: light-dark(#e5dfd3, #3a352b);
  --accent: light-dark(#9a4708, #f0a35a);
  --accent-ink: light-dark(#ffffff, #22180c);
  --wash: light-dark(#f6eee2, #2a241a);
  --good: light-dark(#1f6b3b, #7fd39c);
  --bad: light-dark(#a61b1b, #ff9c93);
  --good-wash: light-dark(#e6f4ea, #17301f);
  --bad-wash: light-dark(#fdeaea, #3a1c1a);
  --radius: 12px;
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; min-height: 100vh; background: var(--paper); color: var(--ink);
  font: 16px/1.55 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 .6rem }
h2 { font-size: 1.1rem; margin: 0 0 .6rem }
h3 { font-size: 1rem; margin: 1rem 0 .4rem }
p { margin: 0 0 .8rem }
a { color: var(--accent); text-underline-offset: 3px }
code, pre, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em }
code { background: var(--wash); border-radius: 5px; padding: .1em .35em; overflow-wrap: anywhere }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: var(--radius); padding: 1rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 6px }
.skip { position: absolute; left: -9999px }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 2 }
.banner {
  margin: 0; padding: .45rem 1rem; text-align: center; font-size: .875rem; color: light-dark(#5b3206, #ffe2bf);
  background: repeating-linear-gradient(-45deg, light-dark(#fbe3c0, #40290d), light-dark(#fbe3c0, #40290d) 14px, light-dark(#f8d9ac, #4a3012) 14px, light-dark(#f8d9ac, #4a3012) 28px);
}
.top { border-bottom: 1px solid var(--line); background: var(--card) }
.top ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem; max-width: 68rem; margin: 0 auto; padding: .4rem 1rem }
.top a { display: block; padding: .6rem .9rem; border-radius: 8px; text-decoration: none; color: var(--quiet); font-weight: 500 }
.top a:hover { background: var(--wash); color: var(--ink) }
.top a[aria-current] { color: var(--ink); background: var(--wash) }
.wide { max-width: 68rem; margin: 0 auto; padding: 2rem 1rem 4rem }
.hosted { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1rem 4rem }
.narrow { max-width: 28rem; margin: 0 auto }
.card { background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); padding: 1.25rem; margin: 0 0 1rem; box-shadow: 0 1px 2px rgb(0 0 0 / .04) }
.card.narrow { margin-inline: auto }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)) }
.grid .card { margin: 0 }
.grid.two { grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)) }
.after { margin-top: 1.25rem }
.card > :last-child { margin-bottom: 0 }
.split { display: grid; gap: 2rem; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr); align-items: start }
@media (max-width: 46rem) { .split { grid-template-columns: minmax(0, 1fr) } }
.quiet { color: var(--quiet) }
.small { font-size: .875rem }
hr { border: 0; border-top: 1px solid var(--line); margin: .75rem 0 }
.right { text-align: right }
.amount { font-variant-numeric: tabular-nums; white-space: nowrap }
.total { font-size: 2.2rem; font-weight: 650; letter-spacing: -.02em; line-height: 1.1; margin: .2rem 0 1rem }
.row { display: flex; gap: .75rem; flex-wrap: wrap; align-items: center }
.between { display: flex; gap: 1rem; justify-content: space-between; align-items: baseline; margin: 0 0 .8rem }
form + p { margin-top: .8rem }
button + p, .row + p { margin-top: .6rem }
td.mono { white-space: nowrap }
.scroll { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .925rem }
th { text-align: left; font-weight: 600; color: var(--quiet); font-size: .8rem }
th, td { padding: .55rem .6rem; border-bottom: 1px solid var(--line); vertical-align: middle }
tr:last-child td { border-bottom: 0 }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: 99px; font-size: .8rem; font-weight: 550; background: var(--wash); color: var(--quiet) }
.badge.good { background: var(--good-wash); color: var(--good) }
.badge.bad { background: var(--bad-wash); color: var(--bad) }
.notice { padding: .75rem 1rem; border-radius: 10px; margin: 0 0 1rem; background: var(--good-wash); color: var(--good) }
.notice.bad { background: var(--bad-wash); color: var(--bad) }
form { margin: 0 }
label { display: block; font-weight: 550; font-size: .9rem; margin: 0 0 .25rem }
input[type=text], input[type=email], input[type=number], select {
  width: 100%; min-height: 44px; padding: .5rem .75rem; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--line); border-radius: 9px;
}
.field { margin: 0 0 1rem }
fieldset { border: 0; margin: 0 0 1rem; padding: 0 }
legend { font-weight: 550; font-size: .9rem; padding: 0; margin: 0 0 .4rem }
.choice { display: flex; gap: .75rem; align-items: center; border: 1px solid var(--line); padding: .6rem .85rem; min-height: 44px; margin: 0 0 -1px; cursor: pointer; font-weight: 400 }
.choice:first-of-type { border-radius: 10px 10px 0 0 }
.choice:last-of-type { border-radius: 0 0 10px 10px }
.choice:has(:checked) { background: var(--wash) }
.choice input { accent-color: var(--accent); width: 1.1rem; height: 1.1rem; flex: none }
.grow { flex: 1; min-width: 8rem }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 44px; padding: .5rem 1.1rem; font: inherit; font-weight: 600;
  border-radius: 9px; border: 1px solid transparent; background: var(--accent); color: var(--accent-ink); cursor: pointer; text-decoration: none;
}
button:hover, .button:hover { filter: brightness(1.08) }
button.plain, .button.plain { background: transparent; color: var(--ink); border-color: var(--line); font-weight: 500 }
button.danger { background: transparent; color: var(--bad); border-color: currentColor; font-weight: 500 }
button.full { width: 100% }
td button { padding: .2rem .7rem; font-size: .875rem }
td input[type=number] { width: 7rem; padding: .2rem .5rem }
.mail { display: grid; gap: 1rem; grid-template-columns: minmax(0, 20rem) minmax(0, 1fr); align-items: start }
@media (max-width: 52rem) { .mail { grid-template-columns: minmax(0, 1fr) } }
.mails { list-style: none; margin: 0; padding: 0; overflow: auto; max-height: 75vh }
.mails a { display: block; padding: .7rem .9rem; border-bottom: 1px solid var(--line); text-decoration: none; color: inherit; overflow-wrap: anywhere }
.mails a:hover, .mails a[aria-current] { background: var(--wash) }
.mails strong { display: block; font-weight: 600; line-height: 1.35 }
.flush { padding: 0; overflow: hidden }
.tabs { display: flex; gap: .25rem; border-bottom: 1px solid var(--line); padding: .4rem .6rem 0 }
.tabs a { padding: .55rem .9rem; text-decoration: none; color: var(--quiet); border-bottom: 3px solid transparent; font-weight: 500 }
.tabs a[aria-current] { color: var(--ink); border-color: var(--accent) }
.head { padding: 1.1rem 1.25rem .8rem; overflow-wrap: anywhere }
.inside { padding: 1.1rem 1.25rem }
iframe { display: block; width: 100%; height: 34rem; border: 0; background: #ffffff }
.people { list-style: none; margin: 0 0 1.25rem; padding: 0 }
.person { width: 100%; justify-content: flex-start; gap: .9rem; text-align: left; background: transparent; color: inherit; border-color: var(--line); font-weight: 400; margin: 0 0 .5rem }
.person:hover { background: var(--wash); filter: none }
.face { flex: none; width: 2.25rem; height: 2.25rem; border-radius: 50%; display: grid; place-items: center; background: var(--accent); color: var(--accent-ink); font-weight: 650 }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1rem; margin: 0 0 1rem }
dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }
details summary { cursor: pointer; padding: .4rem 0; color: var(--accent) }
@media (prefers-reduced-motion: no-preference) { button, .button, .top a { transition: filter .12s, background .12s } }
`
