import { lazy, Suspense } from 'react'
import { CopyIcon } from '../components/copy.tsx'
import { t } from '../language/text.ts'
import classes from './markdown.module.css'

// Without the file, for example offline, code stays uncoloured.
const ColouredCode = lazy(() =>
  import('./coloured-code.tsx').then(
    ({ ColouredCode }) => ({ default: ColouredCode }),
    () => ({ default: PlainCode }),
  ),
)

type CodeProps = { code: string; language: string }

export function CodeBlock({ code, language }: CodeProps) {
  return (
    <div className={classes.code} dir="ltr">
      <div className={classes.bar}>
        <span>{language || 'code'}</span>
        <CopyIcon value={code} what={t('code')} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0}>
        <code>
          {language ? (
            <Suspense fallback={code}>
              <ColouredCode code={code} language={language} />
            </Suspense>
          ) : (
            code
          )}
        </code>
      </pre>
    </div>
  )
}

function PlainCode({ code }: CodeProps) {
  return <>{code}</>
}
