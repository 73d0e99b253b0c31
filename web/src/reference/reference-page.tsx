import { BRAND } from '../components/brand.ts'
import { CopyIcon } from '../components/copy.tsx'
import { TextLink } from '../components/links.tsx'
import { useTitle } from '../components/title.ts'
import { CodeBlock } from '../markdown/code-block.tsx'
import classes from './reference.module.css'
import { OperationLinks, ReferenceFrame } from './reference-frame.tsx'

/** The start of the API reference: address, key and first call. */
export function ReferencePage() {
  useTitle('API reference')
  const { origin } = location
  return (
    <ReferenceFrame>
      <h1>API reference</h1>
      <p className={classes.lead}>
        Call the models of every vendor, and search your documents. Clients of OpenAI and Anthropic
        work after a change of their base URL.
      </p>
      <section>
        <h2>Base URL</h2>
        <dl className={classes.fields}>
          {[
            ['OpenAI clients', `${origin}/v1`],
            ['Anthropic clients', origin],
            ['MCP clients', `${origin}/mcp`],
          ].map(([client = '', address = '']) => (
            <div key={client} className={classes.client}>
              <dt>{client}</dt>
              <dd>
                <code>{address}</code>
                <CopyIcon value={address} what={`the address for ${client}`} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h2>Authentication</h2>
        <p>
          Send an <TextLink to="/api-keys">API key</TextLink> as a bearer token. {BRAND} shows a key
          only once. Keep it on your server: anyone who has it can spend your allowance.
        </p>
        <CodeBlock
          language="bash"
          code={`curl "${origin}/v1/models" \\\n  -H "Authorization: Bearer YOUR_API_KEY"`}
        />
      </section>
      <section>
        <h2>Errors</h2>
        <p>
          A failed request has a status of 400 or higher and a stable <code>code</code>.{' '}
          <TextLink to="/errors">Error codes</TextLink> says what each one means and what to do.
          Every reply has an <code>X-Request-Id</code>, which finds its call under{' '}
          <TextLink to="/calls">Calls</TextLink>.
        </p>
      </section>
      <section>
        <h2>Try it</h2>
        <p>
          The <TextLink to="/playground">playground</TextLink> sends requests from your browser and
          writes them as code for curl, OpenAI, Anthropic and LangChain.
        </p>
      </section>
      <div className={classes.all}>
        <OperationLinks />
      </div>
    </ReferenceFrame>
  )
}
