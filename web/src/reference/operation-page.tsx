import { getRouteApi, Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import type { ReferenceField, ReferenceOperation } from '#app/api-reference.ts'
import { CopyIcon } from '../components/copy.tsx'
import { LinkButton } from '../components/links.tsx'
import { useTitle } from '../components/title.ts'
import { t } from '../language/text.ts'
import { CodeBlock } from '../markdown/code-block.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { findOperation } from './operations.ts'
import classes from './reference.module.css'
import { ReferenceFrame } from './reference-frame.tsx'
import { writeCurl } from './write-curl.ts'

const route = getRouteApi('/public/reference/$operation')

/** One operation: what it does, its members, and an example of a call and its reply. */
export function OperationPage() {
  const operation = findOperation(route.useParams().operation)
  if (operation === null) return <NotFound />
  return (
    <ReferenceFrame>
      <Operation key={operation.id} operation={operation} />
    </ReferenceFrame>
  )
}

function Operation({ operation }: { operation: ReferenceOperation }) {
  const { id, method, path, title, about, parameters, body, reply, replies } = operation
  useTitle(title)
  return (
    <>
      <Link to="/reference" className={classes.back}>
        {t('API reference')}
      </Link>
      <h1 lang="en">{title}</h1>
      <div className={classes.address}>
        <span className={classes.method} data-method={method}>
          {method}
        </span>
        <code>{path}</code>
        <CopyIcon value={`${location.origin}${path}`} what={t('address')} />
      </div>
      {about && <p lang="en">{markCode(about)}</p>}
      <h2>{t('Example')}</h2>
      <CodeBlock language="bash" code={writeCurl(operation, location.origin)} />
      {id === 'createChatCompletion' && (
        <LinkButton to="/playground" variant="default">
          {t('Open in playground')}
        </LinkButton>
      )}
      <Fields title={t('Parameters')} fields={parameters} />
      <Fields title={t('Body')} fields={body} />
      {replies.length > 0 && <h2>{t('Reply')}</h2>}
      {replies.map(({ type, example }) => (
        <section key={type}>
          <h3>{type}</h3>
          <CodeBlock
            language={type === 'application/json' ? 'json' : ''}
            code={typeof example === 'string' ? example : JSON.stringify(example, null, 2)}
          />
        </section>
      ))}
      <Fields title={REPLY} fields={reply} />
    </>
  )
}

const REPLY = t('Members of the reply')

type FieldsProps = { title: string; fields: (ReferenceField & { in?: string })[] }

function Fields({ title, fields }: FieldsProps) {
  if (fields.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <dl className={classes.fields}>
        {fields.map((field) => (
          <div key={field.name}>
            <dt>
              <code>{field.name}</code>
              {field.required && title !== REPLY && <strong>{t('required')}</strong>}
            </dt>
            <dd>
              <span>
                {[field.type, field.in && t('in {0}', field.in)].filter(Boolean).join(', ')}
              </span>
              {field.about && <p lang="en">{markCode(field.about)}</p>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Every second part of the text stands between backticks. */
function markCode(text: string): ReactNode {
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never move.
    <Fragment key={index}>{index % 2 === 0 ? part : <code>{part}</code>}</Fragment>
  ))
}
