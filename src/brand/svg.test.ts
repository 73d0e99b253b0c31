import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawMonogram, KEY_MARK } from './mark.ts'
import { findSvgFault } from './svg.ts'

const NS = 'xmlns="http://www.w3.org/2000/svg"'
const find = (svg: string) => findSvgFault(Buffer.from(svg))

test('shapes as drawing programs export them are accepted', () => {
  for (const svg of [
    KEY_MARK,
    drawMonogram('<Ö>', '#1d4ed8'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n<svg ${NS} xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">
      <defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs>
      <style>.b{fill:url(#a);stroke:red}</style>
      <g clip-path="url('#c')" style="opacity:.5"><path class='b' d="M0 0h1"/><use xlink:href="#d"/></g>
      <text>A &amp; B</text>
    </svg>\n`,
  ])
    assert.equal(find(svg), null, svg)
})

test('everything that runs, loads or hides is refused', () => {
  const inside = (content: string) => `<svg ${NS}>${content}</svg>`
  for (const svg of [
    inside('<script>alert(1)</script>'),
    inside('<SCRIPT/>'),
    inside('<x:script xmlns:x="http://www.w3.org/1999/xhtml"/>'),
    inside('<foreignObject><p/></foreignObject>'),
    inside('<image href="https://elsewhere.example/p.png"/>'),
    inside('<a href="javascript:alert(1)"><path/></a>'),
    inside('<use href="https://elsewhere.example/x.svg#a"/>'),
    inside('<use xlink:href="data:image/svg+xml,x#a"/>'),
    inside('<path onload="alert(1)"/>'),
    inside('<path ONCLICK="alert(1)"/>'),
    inside('<animate attributeName="href" to="javascript:alert(1)"/>'),
    inside('<set attributeName="onload" to="alert(1)"/>'),
    inside('<path fill="url(https://elsewhere.example/#a)"/>'),
    inside('<path style="background:url(//elsewhere.example)"/>'),
    inside('<path style="background:\\75rl(//elsewhere.example)"/>'),
    inside('<path fill="&#117;rl(//elsewhere.example)"/>'),
    inside('<style>@import "https://elsewhere.example/a.css";</style>'),
    inside('<style>path{background:image-set("https://elsewhere.example")}</style>'),
    inside('<style>&#64;import "x";</style>'),
    inside('<![CDATA[<script>]]>'),
    inside('<iframe/>'),
    inside('<g xmlns="http://www.w3.org/1999/xhtml"/>'),
    `<!DOCTYPE svg [<!ENTITY x "y">]>${inside('&x;')}`,
    `<?xml-stylesheet href="https://elsewhere.example/a.css"?>${inside('')}`,
    `${inside('')}<script/>`,
    `${inside('')}text`,
    inside('<path d="M0 0"'),
    inside('<g><path/>'),
    inside('<path d=M0/>'),
    inside('<path d="<script>"/>'),
    `<svg>no namespace</svg>`,
    `<html ${NS}></html>`,
    'text',
    '',
  ])
    assert.notEqual(find(svg), null, svg)
  assert.notEqual(findSvgFault(Buffer.from([0xff, 0xfe, 0x3c])), null)
})
