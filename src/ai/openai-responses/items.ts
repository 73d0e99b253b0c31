// Builds the items of a response from a vendor's chunks, and emits their events. The next item ends
// the open one, except that tool calls may overlap and so end with the answer.
import { addDetail, type WrappedReasoning, wrapReasoning } from '../reasoning-envelope.ts'
import type { AnswerChunk, FinishReason, ToolDelta } from '../vendors/chunk.ts'
import type { ReasoningDetail } from '../vendors/reasoning.ts'
import { readTextInput, type Tools } from './tools.ts'

type Json = Record<string, unknown>

/** Receives an event's type and its fields except the number. */
export type EmitEvent = (type: string, data: Json) => void

/** Receives a chunk of text, the most frequent event. `head` is the JSON before the text. */
export type EmitText = (head: string, text: string) => void

export type Items = {
  add(chunk: AnswerChunk): void
  /** Ends the open items. */
  end(finish: FinishReason): void
  /** Returns the ended items in order. */
  output(): Json[]
}

type OpenItem = { id: string; index: number; end(status: Status): Json }
type MessageItem = OpenItem & { kind: 'message'; addText(text: string): void }
type ReasoningItem = OpenItem & {
  kind: 'reasoning'
  /** The index of the reasoning block; null for reasoning as plain text. */
  block: number | null
  addReasoning(text: string, detail: ReasoningDetail | null): void
  addExtra(callId: string, extra: Extra): void
}
type Extra = NonNullable<WrappedReasoning['calls']>[string]
type CallItem = OpenItem & { add(args: string): void }
type Status = 'completed' | 'incomplete'

/** `id`: the id of the response, without its prefix. */
export function createItems(id: string, tools: Tools, emit: EmitEvent, emitText: EmitText): Items {
  const ended: Json[] = []
  const calls = new Map<number, CallItem>()
  let open: MessageItem | ReasoningItem | null = null
  let count = 0

  const end = (item: OpenItem, status: Status = 'completed') => {
    const whole = item.end(status)
    ended[item.index] = whole
    emit('response.output_item.done', { output_index: item.index, item: whole })
  }
  const endOpen = (status?: Status) => {
    if (open !== null) end(open, status)
    open = null
  }
  const place = (prefix: string) => ({
    id: `${prefix}_${id}${count.toString(16).padStart(4, '0')}`,
    index: count++,
  })

  const openMessage = (): MessageItem => {
    if (open?.kind === 'message') return open
    endOpen()
    const item = beginMessage(place('msg'), emit, emitText)
    open = item
    return item
  }
  const openReasoning = (block: number | null): ReasoningItem => {
    if (open?.kind === 'reasoning' && open.block === block) return open
    endOpen()
    const item = beginReasoning(place('rs'), block, emit)
    open = item
    return item
  }
  const addReasoningDetail = (detail: ReasoningDetail) =>
    openReasoning(typeof detail.index === 'number' ? detail.index : 0).addReasoning(
      readText(detail),
      detail,
    )

  const callTool = (delta: ToolDelta) => {
    if (delta.extra_content !== undefined && delta.id !== undefined) {
      const latest: ReasoningItem = open?.kind === 'reasoning' ? open : openReasoning(null)
      latest.addExtra(delta.id, delta.extra_content)
    }
    let call = calls.get(delta.index)
    if (call === undefined) {
      endOpen()
      call = beginCall(place, delta, tools, emit)
      calls.set(delta.index, call)
    }
    if (delta.arguments !== '') call.add(delta.arguments)
  }

  return {
    add({ text, reasoning: reasoningText, details, tools: deltas }) {
      if (details === null) {
        if (reasoningText !== '') openReasoning(null).addReasoning(reasoningText, null)
      } else {
        for (const detail of details)
          if (detail.type !== 'reasoning.encrypted') addReasoningDetail(detail)
      }
      if (text !== '') openMessage().addText(text)
      // The signature of a text arrives with its end.
      if (details !== null)
        for (const detail of details)
          if (detail.type === 'reasoning.encrypted') addReasoningDetail(detail)
      if (deltas !== null) for (const delta of deltas) callTool(delta)
    },
    end(finish) {
      // Clients expect a message, even in an empty answer.
      if (count === 0 && finish === 'stop') openMessage()
      const status = finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed'
      endOpen(status)
      for (const call of calls.values()) end(call, status)
      calls.clear()
    },
    output: () => ended,
  }
}

function readText(detail: ReasoningDetail): string {
  if (detail.type === 'reasoning.text') return detail.text
  return detail.type === 'reasoning.summary' ? detail.summary : ''
}

type Place = { id: string; index: number }

function beginMessage({ id, index }: Place, emit: EmitEvent, emitText: EmitText): MessageItem {
  const at = { item_id: id, output_index: index, content_index: 0 }
  const buildPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const buildItem = (status: string, content: Json[]) => ({
    id,
    type: 'message',
    status,
    role: 'assistant',
    content,
  })
  const head = JSON.stringify({ type: 'response.output_text.delta', ...at }).slice(0, -1)
  let content = ''
  emit('response.output_item.added', { output_index: index, item: buildItem('in_progress', []) })
  emit('response.content_part.added', { ...at, part: buildPart('') })
  return {
    kind: 'message',
    id,
    index,
    addText(text) {
      content += text
      emitText(head, text)
    },
    end(status) {
      emit('response.output_text.done', { ...at, text: content, logprobs: [] })
      emit('response.content_part.done', { ...at, part: buildPart(content) })
      return buildItem(status, [buildPart(content)])
    },
  }
}

function beginReasoning(
  { id, index }: Place,
  block: number | null,
  emit: EmitEvent,
): ReasoningItem {
  const at = { item_id: id, output_index: index, summary_index: 0 }
  const details: ReasoningDetail[] = []
  const calls: NonNullable<WrappedReasoning['calls']> = {}
  let reasoningText = ''
  emit('response.output_item.added', {
    output_index: index,
    item: { id, type: 'reasoning', summary: [] },
  })
  return {
    kind: 'reasoning',
    id,
    index,
    block,
    addReasoning(text, detail) {
      if (detail !== null) addDetail(details, detail)
      if (text === '') return
      if (reasoningText === '')
        emit('response.reasoning_summary_part.added', {
          ...at,
          part: { type: 'summary_text', text: '' },
        })
      reasoningText += text
      emit('response.reasoning_summary_text.delta', { ...at, delta: text })
    },
    addExtra(callId, extra) {
      calls[callId] = extra
    },
    end() {
      const part = { type: 'summary_text', text: reasoningText }
      if (reasoningText !== '') {
        emit('response.reasoning_summary_text.done', { ...at, text: reasoningText })
        emit('response.reasoning_summary_part.done', { ...at, part })
      }
      // Plain text needs no envelope, since clients can read it.
      const isOwn = details.some(isVendorDetail) || Object.keys(calls).length > 0
      return {
        id,
        type: 'reasoning',
        summary: reasoningText === '' ? [] : [part],
        ...(isOwn ? { encrypted_content: wrapReasoning({ details, calls }) } : {}),
      }
    },
  }
}

const isVendorDetail = (detail: ReasoningDetail) =>
  detail.format !== undefined || detail.type === 'reasoning.encrypted' || 'signature' in detail

function beginCall(
  place: (prefix: string) => Place,
  delta: ToolDelta,
  tools: Tools,
  emit: EmitEvent,
): CallItem {
  const { name, namespace, isCustom } = tools.findClientTool(delta.name ?? '')
  const { id, index } = place(isCustom ? 'ctc' : 'fc')
  const at = { item_id: id, output_index: index }
  const named = { name, ...(namespace === null ? {} : { namespace }) }
  const head = { id, call_id: delta.id ?? `call_${id}`, ...named }
  let args = ''
  const buildItem = (status: string, input: string) =>
    isCustom
      ? { ...head, type: 'custom_tool_call', status, input }
      : { ...head, type: 'function_call', status, arguments: input }
  emit('response.output_item.added', { output_index: index, item: buildItem('in_progress', '') })
  return {
    id,
    index,
    add(more) {
      args += more
      // A text tool's input is a member of JSON, so it is parsed once the JSON is complete.
      if (!isCustom) emit('response.function_call_arguments.delta', { ...at, delta: more })
    },
    end(status) {
      if (isCustom) {
        const input = readTextInput(args)
        emit('response.custom_tool_call_input.delta', { ...at, delta: input })
        emit('response.custom_tool_call_input.done', { ...at, input })
        return buildItem(status, input)
      }
      // Some vendors send no arguments at all; clients parse them as JSON.
      if (args === '' && status === 'completed') this.add('{}')
      emit('response.function_call_arguments.done', { ...at, name, arguments: args })
      return buildItem(status, args)
    },
  }
}
