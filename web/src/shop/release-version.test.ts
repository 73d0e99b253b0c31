import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suggestVersion } from './release-version.ts'

test('a version is suggested from the name of the ZIP', () => {
  for (const [name, version] of [
    ['kit-1.2.0.zip', '1.2.0'],
    ['kit v2.0.ZIP', '2.0'],
    ['kit_1.0.0-beta.2.zip', '1.0.0-beta.2'],
    ['kit.zip', ''],
    ['kit2.zip', ''],
  ] as const)
    assert.equal(suggestVersion(name), version, name)
})
