import { lazy, Suspense } from 'react'
import classes from './markdown.module.css'

// Without the file, for example offline, maths stays as TeX.
const Formula = lazy(() =>
  import('./formula.tsx').then(
    ({ Formula }) => ({ default: Formula }),
    () => ({ default: Source }),
  ),
)

type MathsProps = { tex: string; isDisplay: boolean }

export function Maths(props: MathsProps) {
  const formula = (
    <Suspense fallback={<Source {...props} />}>
      <Formula {...props} />
    </Suspense>
  )
  if (!props.isDisplay) return formula
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <span className={`scroll-x ${classes.formula}`} dir="ltr" tabIndex={0}>
      {formula}
    </span>
  )
}

function Source({ tex }: MathsProps) {
  return <code>{tex}</code>
}
