import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTools, translateToolChoice } from './tools.ts'
import { translate } from './translation.ts'

const tool = (name: string, more: object = {}) => ({
  type: 'function',
  name,
  parameters: {},
  ...more,
})
const namesOf = (offered: object[]) =>
  readTools(offered).definitions.map((one) => one.function.name)

test('gives every tool a unique name that all vendors accept', () => {
  const long = 'x'.repeat(80)
  const offered = [
    tool('look'),
    { type: 'namespace', name: 'functions', tools: [tool('look'), tool('exec')] },
    { type: 'namespace', name: 'mcp__docs__', tools: [tool('look'), tool('look.up')] },
    { type: 'namespace', name: 'clock', tools: [tool('look')] },
    tool(`${long}1`),
    tool(`${long}2`),
    tool('look'),
  ]
  const names = namesOf(offered)
  assert.deepEqual(names.slice(0, 6), [
    'look',
    'look_2',
    'exec',
    'mcp__docs__look',
    'mcp__docs__look_up',
    'clock__look',
  ])
  assert.equal(names.length, 8)
  assert.equal(new Set(names).size, names.length)
  for (const name of names) assert.match(name, /^[\w-]{1,64}$/)

  const tools = readTools(offered)
  for (const name of names) {
    const client = tools.findClientTool(name)
    assert.equal(tools.findVendorName(client.name, client.namespace ?? undefined), name)
  }
  assert.equal(tools.findVendorName('gone', 'mcp__docs__'), 'mcp__docs__gone')
})

test('translates many tools with colliding names and a long description in linear time and size', () => {
  const alike = Array.from({ length: 30_000 }, (_, index) => tool(`${'x'.repeat(70)}${index}`))
  const description = 'y'.repeat(100_000)
  const { definitions } = readTools([
    ...alike,
    { type: 'namespace', name: 'n', description, tools: alike },
  ])
  assert.equal(definitions.length, 60_000)
  assert.equal(new Set(definitions.map((one) => one.function.name)).size, 60_000)
  assert.equal(
    definitions.filter((one) => (one.function.description?.length ?? 0) > 1_000).length,
    1,
  )
  assert.ok(
    readTools([{ type: 'namespace', name: `${'_'.repeat(1_000_000)}x`, tools: [tool('a')] }]),
  )

  const summary = Array.from({ length: 300_000 }, () => ({ type: 'summary_text', text: 'x' }))
  const input = [
    { type: 'reasoning', summary },
    { role: 'assistant', content: 'Hi' },
  ]
  assert.equal(translate({ model: 'm', input }).request.messages.length, 1)
})

test('offers only the tools of an allowed_tools choice', () => {
  const tools = readTools([
    tool('a'),
    { type: 'namespace', name: 'n', tools: [tool('b')] },
    { type: 'web_search' },
  ])
  const allowed = [{ type: 'function', name: 'b', namespace: 'n' }, { type: 'web_search' }]
  const { tools: offered, tool_choice } = translateToolChoice(
    { type: 'allowed_tools', mode: 'required', tools: allowed },
    tools,
  )
  assert.deepEqual([offered?.map((one) => one.function.name), tool_choice], [['n__b'], 'required'])
  assert.throws(
    () => translateToolChoice({ type: 'allowed_tools', tools: [{ type: 'web_search' }] }, tools),
    /allows no function/,
  )
  assert.throws(() => translateToolChoice({ type: 'web_search' }, tools), /runs only at OpenAI/)
})
