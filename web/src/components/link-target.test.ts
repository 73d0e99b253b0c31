import assert from 'node:assert/strict'
import test from 'node:test'
import { hidesTarget, readTarget } from './link-target.ts'

test('returns the host or the mailbox of a link', () => {
  assert.equal(readTarget('https://docs.example.com/a/b?c=d'), 'docs.example.com')
  assert.equal(readTarget('https://bank.example@evil.example:8443/'), 'evil.example:8443')
  assert.equal(readTarget('https://bаnk.example'), 'xn--bnk-6cd.example', 'a Cyrillic letter')
  assert.equal(readTarget('mailto:ada@example.com?subject=hello'), 'ada@example.com')
  assert.equal(readTarget('nowhere'), undefined)
  assert.equal(readTarget(undefined), undefined)
})

test('text that names no target hides it', () => {
  for (const text of ['the documentation', 'Image: without a description', 'click here', '']) {
    assert.equal(hidesTarget(text, 'example.com'), true, text)
  }
})

test('text that names its target does not hide it', () => {
  for (const text of [
    'example.com',
    'EXAMPLE.com.',
    'www.example.com/a/index.html',
    'https://example.com/a/index.html?b=c.de#f',
    '(see https://example.com)',
  ]) {
    assert.equal(hidesTarget(text, 'example.com'), false, text)
  }
  assert.equal(hidesTarget('Ada@example.com', 'ada@example.com'), false)
  assert.equal(hidesTarget('10.0.0.1:8000/docs', '10.0.0.1:8000'), false)
})

test('text that names another host hides the target, in any spelling', () => {
  for (const text of [
    'https://bank.example',
    'https://bank.example/evil.example',
    'https://bank.example@evil.example/login',
    'bank.example@evil.example',
    'HTTPS://BANK.EXAMPLE',
    'https:/bank.example',
    'https:\\\\bank.example',
    'Sign in at bank.example, then come back to evil.example',
    'bank.exa\u200bmple',
    'ba\u00adnk.\u2060example',
    '\u202eelpmaxe.knab',
    'ｂａｎｋ．ｅｘａｍｐｌｅ',
    'bank。example',
    'https://localhost/account',
    '192.168.1.1',
    'help@bank.example',
    'evil.example.com',
    'evil.exаmple',
  ]) {
    assert.equal(hidesTarget(text, 'evil.example'), true, text)
  }
  assert.equal(hidesTarget('help@bank.example', 'eve@evil.example'), true)
})
