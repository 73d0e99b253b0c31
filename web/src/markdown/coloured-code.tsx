import { common, createLowlight } from 'lowlight'
import { Fragment, type ReactNode, useContext, useMemo } from 'react'
import { readColouredLength } from './coloured-part.ts'
import './coloured-code.css'
import { IsGrowing } from './is-growing.ts'

const lowlight = createLowlight(common)
/** Longer code would hold up the page. */
const LENGTH_MAX = 50_000

type Node = ReturnType<typeof lowlight.highlight>['children'][number]
type ColouredCodeProps = { code: string; language: string }

export function ColouredCode({ code, language }: ColouredCodeProps) {
  const isGrowing = useContext(IsGrowing)
  const isKnown = lowlight.registered(language) && code.length <= LENGTH_MAX
  const length = isGrowing ? readColouredLength(code) : code.length
  const part = code.slice(0, isKnown ? length : 0)
  const nodes = useMemo(
    () => (part ? lowlight.highlight(language, part).children.map(renderNode) : null),
    [language, part],
  )
  return (
    <>
      {nodes}
      {code.slice(part.length)}
    </>
  )
}

function renderNode(node: Node, key: number): ReactNode {
  if (node.type === 'text') return <Fragment key={key}>{node.value}</Fragment>
  if (node.type !== 'element') return null
  const { className } = node.properties
  return (
    <span key={key} className={Array.isArray(className) ? className.join(' ') : undefined}>
      {node.children.map(renderNode as never)}
    </span>
  )
}
