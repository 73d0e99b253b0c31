import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'
import { writeZip } from '#testing/zip.ts'
import { run } from './release.ts'

test('publishes a folder and a ZIP, which a running service offers', async (t) => {
  const shop = await openShop(t)
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const kit = join(folder, 'kit')
  mkdirSync(join(kit, 'src'), { recursive: true })
  writeFileSync(join(kit, 'src/a.txt'), 'a')
  symlinkSync('/etc/passwd', join(kit, 'link'))
  writeFileSync(join(folder, 'notes.md'), '- **Faster**')
  writeFileSync(join(folder, 'kit.zip'), writeZip([{ name: 'b.txt', content: 'b' }]))
  writeFileSync(join(folder, 'evil.zip'), writeZip([{ name: '../b.txt', content: 'b' }]))

  const release = async (...args: string[]) => {
    const lines: string[] = []
    const { config, platform } = shop.app
    const print = (line = '') => void lines.push(line)
    const code = await run(args, { config, platform: async () => platform, print })
    return { code, text: lines.join('\n') }
  }
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const showsVersion = async (version: string) => {
    // The list of the running service follows the revision.
    while ((await ada.get('/api/purchases')).body[0].version !== version)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  const first = await release('publish', 'pro', '2.0.0', kit, '--notes', join(folder, 'notes.md'))
  assert.equal(first.code, 0, first.text)
  assert.match(
    first.text,
    /^left out: link \(a symbolic link\)\npro 2\.0\.0 is published: 1 files, /,
  )
  await showsVersion('2.0.0')
  assert.match((await ada.get('/dashboard')).text, /Faster/)
  shop.clock.advance(1_000)
  assert.equal((await release('publish', 'pro', '2.1.0', join(folder, 'kit.zip'))).code, 0)
  await showsVersion('2.1.0')

  await assert.rejects(release('publish', 'pro', '2.1.0', kit), /another release 2\.1\.0/)
  await assert.rejects(release('publish', 'pro', '2.2.0', join(folder, 'evil.zip')), /leads out/)
  await assert.rejects(release('publish', 'pro', '2.2.0', join(folder, 'none')), /ENOENT/)
  const unknown = await release('publish', 'course', '1.0.0', kit)
  assert.deepEqual([unknown.code, /basic, pro, enterprise/.test(unknown.text)], [1, true])
  for (const args of [
    [],
    ['publish'],
    ['withdraw', 'pro', '1', kit],
    ['publish', 'pro', '1', kit, 'x'],
  ])
    assert.equal((await release(...args)).code, 2, args.join(' '))
})
