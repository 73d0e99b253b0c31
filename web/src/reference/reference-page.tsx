import { BRAND } from '../components/brand.ts'
import { CopyIcon } from '../components/copy.tsx'
import { TextLink } from '../components/links.tsx'
import { useTitle } from '../components/title.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { CodeBlock } from '../markdown/code-block.tsx'
import classes from './reference.module.css'
import { OperationLinks, ReferenceFrame } from './reference-frame.tsx'

/** The start of the API reference: address, key and first call. */
export function ReferencePage() {
  useTitle(t('API reference'))
  const { origin } = location
  return (
    <ReferenceFrame>
      <h1>{t('API reference')}</h1>
      <p className={classes.lead}>
        {t(
          'Call the models of every vendor, and search your documents. Clients of OpenAI and Anthropic work after a change of their base URL.',
        )}
      </p>
      <section>
        <h2>{t('Base URL')}</h2>
        <dl className={classes.fields}>
          {[
            [t('OpenAI clients'), `${origin}/v1`],
            [t('Anthropic clients'), origin],
            [t('MCP clients'), `${origin}/mcp`],
          ].map(([client = '', address = '']) => (
            <div key={client} className={classes.client}>
              <dt>{client}</dt>
              <dd>
                <code>{address}</code>
                <CopyIcon value={address} what={t('the address for {0}', client)} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h2>{t('Authentication')}</h2>
        <p>
          {rich(
            'Send an {0} as a bearer token. {1} shows a key only once. Keep it on your server: anyone who has it can spend your allowance.',
            <TextLink to="/api-keys">{t('API key')}</TextLink>,
            BRAND,
          )}
        </p>
        <CodeBlock
          language="bash"
          code={`curl "${origin}/v1/models" \\\n  -H "Authorization: Bearer YOUR_API_KEY"`}
        />
      </section>
      <section>
        <h2>{t('Errors')}</h2>
        <p>
          {rich(
            'A failed request has a status of 400 or higher and a stable {0}. {1} says what each one means and what to do. Every reply has an {2}, which finds its call under {3}.',
            <code>code</code>,
            <TextLink to="/errors">{t('Error codes')}</TextLink>,
            <code>X-Request-Id</code>,
            <TextLink to="/calls">{t('Calls')}</TextLink>,
          )}
        </p>
      </section>
      <section>
        <h2>{t('Try it')}</h2>
        <p>
          {rich(
            'The {0} sends requests from your browser and writes them as code for curl, OpenAI, Anthropic and LangChain.',
            <TextLink to="/playground">{t('playground')}</TextLink>,
          )}
        </p>
      </section>
      <div className={classes.all}>
        <OperationLinks />
      </div>
    </ReferenceFrame>
  )
}
