import { IconChevronRight } from '@tabler/icons-react'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import type { ToolCall } from '../api.ts'
import classes from './answer.module.css'

type ToolLinesProps = { tools: ToolCall[]; isWriting: boolean }

/** What the model looked up: the current step while it works, all of them on demand. */
export function ToolLines({ tools, isWriting }: ToolLinesProps) {
  const last = tools.at(-1)
  if (last === undefined) return null
  const summary = isWriting && last.state === 'running' ? describeTool(last) : describeTools(tools)
  return (
    <details className={classes.steps}>
      <summary>
        <IconChevronRight size={16} aria-hidden />
        <span data-busy={(isWriting && last.state === 'running') || undefined} role="status">
          {summary}
        </span>
      </summary>
      <ol>
        {tools.map((tool, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added at the end.
          <li key={index}>{describeTool(tool)}</li>
        ))}
      </ol>
    </details>
  )
}

function describeTools(tools: ToolCall[]): string {
  const found = tools.reduce(
    (sum, tool) => sum + (tool.name === 'search' ? (tool.found ?? 0) : 0),
    0,
  )
  const steps = tools.length > 1 ? t(' in {0}', plural(tools.length, 'step')) : ''
  return t('Searched your documents{0} · {1}', steps, plural(found, 'passage'))
}

function describeTool({ name, input, found, state }: ToolCall): string {
  const isDone = state === 'done'
  const result = isDone && typeof found === 'number' ? ` · ${plural(found, 'passage')}` : ''
  const query = typeof input.query === 'string' ? t(' for “{0}”', input.query) : ''
  if (name === 'search')
    return t('{0} your documents{1}{2}', isDone ? t('Searched') : t('Searching'), query, result)
  if (name === 'list_documents')
    return isDone
      ? t('Looked through your list of documents')
      : t('Looking through your list of documents…')
  return isDone ? t('Read a document') : t('Reading a document…')
}
