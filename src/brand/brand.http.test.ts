// The brand's API: who may change it, what it refuses, and which of file, row and default wins.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError, readConfig } from '#config/config.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { StoredBrand } from './store.ts'

const SQUARE =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
const embed = (svg: string) => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

test('a saved brand is shown at once, and to strangers', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const form = {
    name: 'Zebra',
    colours: { primary: '#1d4ed8' },
    logo: { square: embed(SQUARE) },
    links: { privacy: 'https://zebra.example/privacy', support: 'mailto:help@zebra.example' },
  }
  const saved = await root.request('PUT', '/api/admin/brand', { body: form })
  assert.equal(saved.status, 200, saved.text)
  assert.deepEqual([saved.body.form, saved.body.source], [form, 'stored'])

  const { body } = await app.get('/api/brand')
  assert.deepEqual(
    [body.name, body.colours.primary, body.links.privacy, body.links.imprint],
    ['Zebra', '#1d4ed8', 'https://zebra.example/privacy', null],
  )
  for (const get of [() => app.get(body.logo.square), () => app.store('GET', body.logo.square)]) {
    const picture = await get()
    assert.equal(picture.text, SQUARE)
    assert.equal(picture.headers.get('content-type'), 'image/svg+xml')
    assert.match(picture.headers.get('cache-control') ?? '', /immutable/)
    assert.match(
      picture.headers.get('content-security-policy') ?? '',
      /default-src 'none'.*sandbox/,
    )
    assert.equal(picture.headers.get('x-content-type-options'), 'nosniff')
  }
  const audit = (await root.get('/api/admin/audit?limit=5')).body
  assert.ok(JSON.stringify(audit).includes('brand.changed'))

  // Without a form everything has its default again.
  assert.equal((await root.request('PUT', '/api/admin/brand', { body: {} })).status, 200)
  assert.equal((await app.get('/api/brand')).body.name, 'Latchkey')
})

test('only superusers read and change the settings', async (t) => {
  const app = await testApp(t)
  const eve = await app.as('eve')
  assert.equal((await eve.get('/api/admin/brand')).status, 403)
  assert.equal(
    (await eve.request('PUT', '/api/admin/brand', { body: { name: 'Eve' } })).status,
    403,
  )
  assert.equal(
    (await app.request('PUT', '/api/admin/brand', { body: { name: 'Eve' } })).status,
    401,
  )
  assert.equal((await app.get('/api/brand')).body.name, 'Latchkey')
})

test('invalid fields are refused by name, and change nothing', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const png = `data:image/png;base64,${Buffer.alloc(40).toString('base64')}`
  const large = embed(`${SQUARE}${'<!-- -->'.repeat(14_000)}`)
  for (const [form, field] of [
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: ' Zebra' }, 'name'],
    [{ name: 'Z'.repeat(51) }, 'name'],
    [{ colours: { primary: '#facc15' } }, 'colours.primary'],
    [{ colours: { primary: 'red' } }, 'colours.primary'],
    [{ colours: { accent: '#ffffff' } }, 'colours.accent'],
    [{ mail: { colour: '#cccccc' } }, 'mail.colour'],
    [{ radius: 99 }, 'radius'],
    [{ links: { terms: 'javascript:alert(1)' } }, 'links.terms'],
    [{ links: { privacy: 'mailto:a@example.com' } }, 'links.privacy'],
    [{ logo: { square: 'https://elsewhere.example/logo.png' } }, 'logo.square'],
    [{ logo: { square: png } }, 'logo.square'],
    [{ logo: { light: large } }, 'logo.light'],
    [{ logo: { social: embed(SQUARE) } }, 'logo.social'],
    [
      { logo: { dark: embed('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>') } },
      'logo.dark',
    ],
    [{ font: 'Comic Sans' }, 'font'],
  ] as const) {
    const reply = await root.request('PUT', '/api/admin/brand', { body: form })
    assert.equal(reply.status, 422, JSON.stringify(form))
    assert.equal(reply.body.detail[0].loc.join('.'), `body.${field}`)
  }
  assert.equal((await root.get('/api/admin/brand')).body.source, 'default')
})

test('a refused colour comes with the nearest one that passes', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const { body } = await root.request('PUT', '/api/admin/brand', {
    body: { colours: { primary: '#facc15' } },
  })
  const [suggested = ''] = /#[0-9a-f]{6}/.exec(body.detail[0].msg) ?? []
  const again = await root.request('PUT', '/api/admin/brand', {
    body: { colours: { primary: suggested } },
  })
  assert.equal(again.status, 200, suggested)
})

test('another process shows a brand after its next look, without a message', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  // A second process on the same database has separate settings and a separate reader.
  const config = { ...app.config, brand: readConfig({}).brand }
  const elsewhere = new StoredBrand({ config, db: app.platform.db })
  await elsewhere.reload()
  assert.equal(config.brand.name, 'Latchkey')
  for (const name of ['Zebra', 'Okapi']) {
    await root.request('PUT', '/api/admin/brand', { body: { name } })
    await elsewhere.reload()
    assert.equal(config.brand.name, name)
  }
})

test('the file of BRAND wins over the saved brand, and cannot be edited here', async (t) => {
  const path = writeBrand(t, {
    name: 'Okapi',
    logo: { square: 'square.svg' },
  })
  const app: TestApp = await testApp(t, { env: { BRAND: path } })
  const root = await app.as('root', { superuser: true })
  const refused = await root.request('PUT', '/api/admin/brand', { body: { name: 'Zebra' } })
  assert.deepEqual([refused.status, refused.body.code], [409, 'brand_from_file'])
  const { body } = await root.get('/api/admin/brand')
  assert.deepEqual([body.source, body.form.name, body.file], ['file', 'Okapi', path])
  const { logo } = (await app.get('/api/brand')).body
  assert.equal((await app.get(logo.square)).text, SQUARE)
})

test('a wrong file stops the start and names the field', (t) => {
  for (const [form, message] of [
    [{ name: '' }, /^BRAND \(.*\) cannot be used: name: /],
    [{ nickname: 'Z' }, /nickname/],
    [{ colours: { primary: '#ffffff' } }, /colours\.primary: The contrast to white is 1\.0/],
    [{ logo: { light: 'missing.svg' } }, /ENOENT/],
    [{ logo: { light: 'notes.txt' } }, /notes\.txt is no SVG/],
    [[], /cannot be used/],
  ] as const) {
    assert.throws(
      () => readConfig({ BRAND: writeBrand(t, form) }),
      (error) => error instanceof ConfigError && message.test(error.message),
      JSON.stringify(form),
    )
  }
})

function writeBrand(t: Pick<TestContext, 'after'>, form: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'brand-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'square.svg'), SQUARE)
  const path = join(folder, 'brand.json')
  writeFileSync(path, JSON.stringify(form))
  return path
}
