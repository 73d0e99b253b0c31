// Translates the tools of OpenAI's responses for vendors that support only functions. Tools of a
// namespace get unique names, and a tool without a schema becomes a function with one text. Tools
// that OpenAI runs are dropped unless they are all: agents offer them to every model.
import { asObject } from '#platform/json.ts'
import type { ChatRequest, ToolDefinition } from '../vendors/chat-request.ts'
import { createNameAllocator } from '../vendors/free-names.ts'
import { parseObject } from '../vendors/json.ts'
import { createRefusal } from '../vendors/vendor-error.ts'

type Json = Record<string, unknown>

/** A tool as the client names it. */
export type ClientTool = { name: string; namespace: string | null; isCustom: boolean }

export type Tools = {
  definitions: ToolDefinition[]
  /** Returns the vendor's name for a tool, even for one that the request no longer offers. */
  findVendorName(name: string, namespace: unknown): string
  findClientTool(name: string): ClientTool
  /** Types of the dropped tools. */
  leftOut: string[]
}

/** The shortest limit among all vendors. */
const NAME_LENGTH_MAX = 64
/** OpenAI's namespace for tools without one. */
const NO_NAMESPACE = 'functions'

/** @throws VendorError for a tool without a name */
export function readTools(offered: unknown[]): Tools {
  const byName = new Map<string, ClientTool>()
  /** By namespace, then by the client's name. */
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
    // A tool may be offered twice; the first counts.
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
    // Only with the first tool: repeating a long description for each would multiply the request.
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
    // When omitted, `strict` means true in a response and false in a chat completion.
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

/** Describes the grammar in words, because other vendors support only functions. */
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

/** Returns the text with which the model called a text tool. */
export function readTextInput(args: string): string {
  const { input } = parseObject(args) ?? {}
  return typeof input === 'string' ? input : args
}

/** Returns the callable tools and whether one must be called. @throws VendorError */
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
    if (open.length === 0) throw createRefusal("'tool_choice' allows no function of 'tools'")
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
    `The tool '${type}' runs only at OpenAI: this model supports functions and custom tools`,
  )
}
