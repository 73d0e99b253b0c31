import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutIntroduction, markdown, plainText } from './markdown.ts'

test('renders the Markdown of a description as HTML', () => {
  const table: Record<string, string> = {
    '': '',
    'One sentence.': '<p>One sentence.</p>',
    'One.\r\n\r\nTwo\nlines.': '<p>One.</p><p>Two\nlines.</p>',
    '# Inside #\nText': '<h3>Inside</h3><p>Text</p>',
    'You get:\n- one\n- two,\n  and more\n\nAll.':
      '<p>You get:</p><ul><li>one</li><li>two,\nand more</li></ul><p>All.</p>',
    '3. three\n4. four': '<ol start="3"><li>three</li><li>four</li></ol>',
    'a **bold *one*** and `x < y`':
      '<p>a <strong>bold <em>one</em></strong> and <code>x &lt; y</code></p>',
    'a **bold** and *soft* word': '<p>a <strong>bold</strong> and <em>soft</em> word</p>',
    '[**Here**](https://example.com/a?b=1&c)':
      '<p><a href="https://example.com/a?b=1&amp;c"><strong>Here</strong></a></p>',
    '[us](/contact), [mail](mailto:a@b.example)':
      '<p><a href="/contact">us</a>, <a href="mailto:a@b.example">mail</a></p>',
    'Run:\n```sh\nnpm ci # <once>\n\n- not a list\n```\nDone.':
      '<p>Run:</p><pre tabindex="0"><code>npm ci # &lt;once&gt;\n\n- not a list</code></pre><p>Done.</p>',
    '```\nopen to the end': '<pre tabindex="0"><code>open to the end</code></pre>',
    '5 * 3 * 2, snake_case, 2 ** 3': '<p>5 * 3 * 2, snake_case, 2 ** 3</p>',
  }
  for (const [text, markup] of Object.entries(table))
    assert.equal(markdown(text).markup, markup, text)
})

test('renders nested lists, and blocks in their items', () => {
  const table: Record<string, string> = {
    '- a\n  - b\n    - c\n- d':
      '<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>',
    '- a\n\n- b\n\ntext': '<ul><li>a</li><li>b</li></ul><p>text</p>',
    '1. a\n   ```\n   code\n     more\n   ```\n2. b':
      '<ol start="1"><li>a<pre tabindex="0"><code>code\n  more</code></pre></li><li>b</li></ol>',
    '1. a\n\n   second\n2. b': '<ol start="1"><li>a<p>second</p></li><li>b</li></ol>',
    '1. one\n  - inner\n2. two':
      '<ol start="1"><li>one<ul><li>inner</li></ul></li><li>two</li></ol>',
    '- a\n1. b': '<ul><li>a</li></ul><ol start="1"><li>b</li></ol>',
    '  - a\n  - b': '<ul><li>a</li><li>b</li></ul>',
    '- a\n\n\nend': '<ul><li>a</li></ul><p>end</p>',
  }
  for (const [text, markup] of Object.entries(table))
    assert.equal(markdown(text).markup, markup, text)
})

test('renders tables, whose cells may have marks, links and bars', () => {
  const { markup } = markdown(
    'Before:\n| | Name |\n|---|:-:|\n| a | `x \\| y` |\n| **b** |\n| c | [d](#e) | f |\nAfter',
  )
  assert.equal(
    markup.replaceAll('\n', ''),
    '<p>Before:</p><div class="scroll" tabindex="0" role="group" aria-label="Table"><table>' +
      '<thead><tr><td></td><th scope="col">Name</th></tr></thead><tbody>' +
      '<tr><td>a</td><td><code>x | y</code></td></tr>' +
      '<tr><td><strong>b</strong></td><td></td></tr>' +
      '<tr><td>c</td><td><a href="#e">d</a></td></tr></tbody></table></div><p>After</p>',
  )
  assert.equal(markdown('| a | b |\nno table').markup, '<p>| a | b |\nno table</p>')
})

test('with anchors, each heading has the id that GitHub gives it', () => {
  const { markup } = markdown('## Go `live`, now!\n## Öl & Gas\n## Go live now', {
    heading: 2,
    anchors: true,
  })
  assert.deepEqual(
    [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id),
    ['go-live-now', 'öl--gas', 'go-live-now-1'],
  )
  assert.match(
    markup,
    /<h2 id="go-live-now">.* <a class="anchor" href="#go-live-now" aria-label="Link to “Go live, now!”">#<\/a><\/h2>/,
  )
})

test('a list of ten thousand levels is shown as text below the eighth', () => {
  const { markup } = markdown('- '.repeat(10_000))
  assert.equal(markup.match(/<ul>/g)?.length, 8)
  assert.equal(markdown('- a\n'.repeat(20_000)).markup.match(/<li>/g)?.length, 20_000)
})

test('headings continue the levels of the page without a gap', () => {
  const tags = (text: string, heading: number) =>
    [...markdown(text, { heading }).markup.matchAll(/<(h\d)>/g)].map(([, tag]) => tag)
  assert.deepEqual(tags('## A\n#### B\n## C\n### D', 2), ['h2', 'h3', 'h2', 'h3'])
  assert.deepEqual(tags('### A\n# B\n## C', 3), ['h3', 'h3', 'h4'])
  assert.deepEqual(tags('# A\n## B\n### C\n#### D', 4), ['h4', 'h5', 'h6', 'h6'])
})

test('a thousand marks in one paragraph are rendered', () => {
  const { markup } = markdown('**a** and `b` '.repeat(10_000))
  assert.equal(markup.match(/<strong>/g)?.length, 10_000)
})

test('an introduction ends before the first heading', () => {
  assert.equal(cutIntroduction('One.\n\nTwo.\n\n## How\nThree.'), 'One.\n\nTwo.\n')
  assert.equal(cutIntroduction('# Kit\nOne.\n# How'), '# Kit\nOne.')
  assert.equal(cutIntroduction('One.'), 'One.')
})

test('the plain text of Markdown has no marks', () => {
  assert.equal(
    plainText('# Kit\n\nFast **and** `safe`: [docs](https://a.example).\n- one\n```\ncode\n```'),
    'Kit Fast and safe: docs. one code',
  )
})

test('a description cannot inject HTML or a script', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '[x](javascript:alert(1))',
    '[x](//evil.example)',
    '[x](/\\evil.example)',
    '| a |\n|---|\n| <img src=x onerror=alert(1)> |',
    '- a\n  - <script>alert(1)</script>',
    '[x](https://a.example/"onmouseover="alert(1))',
    '**<img src=x onerror=alert(1)>**',
  ]
  for (const text of hostile)
    assert.doesNotMatch(markdown(text).markup, /<(script|img)|href="(java|\/[/\\])|"onmouse/, text)
  const allowed =
    /<\/?(?:p|h3|ul|li|strong|em|code)>|<pre tabindex="0">|<\/pre>|<ol start="\d+">|<\/ol>|<a href="[^"<>]*">|<\/a>|<div class="scroll" tabindex="0" role="group" aria-label="Table">|<\/div>|<\/?(?:table|thead|tbody|tr|td)>|<th scope="col">|<\/th>/g
  const piece = fc.constantFrom(
    '*',
    '**',
    '`',
    '[',
    ']',
    '(',
    ')',
    'https://a.example/',
    '<b>',
    '"',
    "'",
    '&',
    '\n',
    '- ',
    '  - ',
    '| ',
    '|-|\n',
    '1. ',
    '# ',
    '```',
    'word',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      assert.doesNotMatch(markdown(pieces.join('')).markup.replaceAll(allowed, ''), /[<>"']/)
    }),
  )
})
