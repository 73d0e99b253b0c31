// Tools as OpenAI's responses have them, for vendors that know functions alone: those of a namespace get names of their own
// and come back as the client called them, and one without a schema becomes a function of one text.
// Tools that OpenAI itself runs are nowhere else: agents offer them to every model, so they are left out unless nothing else is left.
import type { ChatRequest, ToolDefinition } from '../vendors/chat-request.ts'
import { createNameAllocator } from '../vendors/free-names.ts'
import { asObject, parseObject } from '../vendors/json.ts'
import { createRefusal } from '../vendors/vendor-error.ts'

type Json = Record<string, unknown>

/** As the client knows it. */
export type ClientTool = { name: string; namespace: string | null; isCustom: boolean }

export type Tools = {
  definitions: ToolDefinition[]
  /** The name under which the vendor knows a tool, or would: a conversation may tell of tools that are no longer offered. */
  findVendorName(name: string, namespace: unknown): string
  findClientTool(name: string): ClientTool
  /** Types of those that were left out. */
  leftOut: string[]
}

/** All vendors take as much. */
const NAME_LENGTH_MAX = 64
/** OpenAI's name for the namespace of those that have none. */
const NO_NAMESPACE = 'functions'

/** @throws VendorError for a tool without a name */
export function readTools(offered: unknown[]): Tools {
  const byName = new Map<string, ClientTool>()
  /** By namespace and the client's name. */
  const names = new Map<string | null, Map<string, string>>()
  const definitions: ToolDefinition[] = []
  const leftOut: string[] = []

  const freeName = createNameAllocator(NAME_LENGTH_MAX)

  /** `about`: the description of the namespace. */
  const add = (tool: Json, namespace: Json | null, about: string) => {
    const isCustom = tool.type === 'custom'
    if (tool.type !== 'function' && !isCustom) {
      leftOut.push(String(tool.type))
      return
    }
    if (typeof tool.name !== 'string' || tool.name === '')
      throw createRefusal("A tool in 'tools' needs a 'name'")
    const space = namespace === null ? null : String(namespace.name)
    const known = names.get(space) ?? new Map<string, string>()
    // A tool may be offered again further on; once is enough.
    if (known.has(tool.name)) return
    const name = freeName(buildVendorName(tool.name, space))
    names.set(space, known.set(tool.name, name))
    byName.set(name, { name: tool.name, namespace: space, isCustom })
    definitions.push({
      type: 'function',
      function: isCustom
        ? buildCustomFunction(tool, name, about)
        : buildFunction(tool, name, about),
    })
  }

  for (const item of offered) {
    const tool = asObject(item) ?? {}
    if (tool.type !== 'namespace') {
      add(tool, null, '')
      continue
    }
    // Once, with its first tool: a long word said with each of many would grow beyond what was sent.
    let about = typeof tool.description === 'string' ? tool.description : ''
    for (const inner of Array.isArray(tool.tools) ? tool.tools : []) {
      add(asObject(inner) ?? {}, tool, about)
      about = ''
    }
  }

  return {
    definitions,
    leftOut,
    findVendorName: (name, namespace) => {
      const space = typeof namespace === 'string' ? namespace : null
      return (
        names.get(space)?.get(name) ??
        (space === null ? names.get(NO_NAMESPACE)?.get(name) : undefined) ??
        buildVendorName(name, space)
      )
    },
    findClientTool: (name) => byName.get(name) ?? { name, namespace: null, isCustom: false },
  }
}

function buildVendorName(name: string, namespace: string | null): string {
  const space =
    namespace === null || namespace === NO_NAMESPACE ? '' : namespace.slice(0, NAME_LENGTH_MAX)
  const joint = space === '' ? '' : space.endsWith('__') ? '' : '__'
  return (space + joint + name).slice(0, NAME_LENGTH_MAX).replace(/[^a-zA-Z0-9_-]/g, '_')
}

function buildFunction(
  { description, parameters, strict }: Json,
  name: string,
  about: string,
): ToolDefinition['function'] {
  const text = [about, typeof description === 'string' ? description : '']
    .filter((text) => text !== '')
    .join('\n\n')
  return {
    name,
    ...(text === '' ? {} : { description: text }),
    parameters: asObject(parameters) ?? { type: 'object', properties: {} },
    // Left out it means yes in a response, and no in a chat completion.
    ...(strict === true ? { strict } : {}),
  }
}

/** The schema of a tool that takes one text. */
export const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

export const isTextTool = (own: Json) => own.parameters === TEXT_INPUT

function buildCustomFunction(tool: Json, name: string, about: string): ToolDefinition['function'] {
  const description = describeTextTool(tool, about)
  return { name, ...(description === '' ? {} : { description }), parameters: TEXT_INPUT }
}

/** States the grammar in words: other vendors have functions only. */
export function describeTextTool({ description, format }: Json, about: string): string {
  const { syntax, definition } = asObject(format) ?? {}
  const grammar =
    typeof definition === 'string'
      ? `\`input\` must match this grammar (${String(syntax)}):\n${definition}`
      : ''
  return [about, typeof description === 'string' ? description : '', grammar]
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The text that a tool without a schema was called with. */
export function readTextInput(args: string): string {
  const { input } = parseObject(args) ?? {}
  return typeof input === 'string' ? input : args
}

/** Which tools may be called, and which must. @throws VendorError for what OpenAI alone can do */
export function translateToolChoice(
  choice: unknown,
  tools: Tools,
): Pick<ChatRequest, 'tools' | 'tool_choice'> {
  const { definitions, leftOut } = tools
  if (definitions.length === 0) {
    if (leftOut.length > 0 && choice !== 'none') throw rejectTool(leftOut[0] ?? '')
    return {}
  }
  if (choice == null) return { tools: definitions }
  if (typeof choice === 'string') return { tools: definitions, tool_choice: choice }
  const { type, name, namespace, mode, tools: allowed } = asObject(choice) ?? {}
  if (type === 'allowed_tools') {
    const named = new Set(
      (Array.isArray(allowed) ? allowed : []).map((one) => readName(asObject(one) ?? {}, tools)),
    )
    const open = definitions.filter((tool) => named.has(tool.function.name))
    if (open.length === 0) throw createRefusal("'tool_choice' allows no function that is offered")
    return { tools: open, tool_choice: mode === 'required' ? 'required' : 'auto' }
  }
  if (type !== 'function' && type !== 'custom') throw rejectTool(String(type))
  if (typeof name !== 'string') throw createRefusal("'tool_choice' needs a 'name'")
  return {
    tools: definitions,
    tool_choice: { type: 'function', function: { name: tools.findVendorName(name, namespace) } },
  }
}

const readName = ({ name, namespace }: Json, tools: Tools) =>
  tools.findVendorName(String(name), namespace)

function rejectTool(type: string) {
  return createRefusal(
    `The tool '${type}' is OpenAI's own: this model has functions and custom tools alone`,
  )
}
