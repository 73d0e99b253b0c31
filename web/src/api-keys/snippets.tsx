import { Card, Select, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { modelsQuery } from '../api/queries.ts'
import { BRAND } from '../components/brand.ts'
import { CopyIcon } from '../components/copy.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { snippetGroups } from './snippet-text.ts'
import classes from './snippets.module.css'

/** Examples of calls with an API key. */
export function Snippets() {
  return (
    <Card component="section" aria-labelledby="snippets">
      <Title order={2} fz="h3" id="snippets">
        {t('Use a key')}
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        {t(
          'OpenAI and Anthropic clients work with every vendor’s models: change their base URL to this service.',
        )}
      </Text>
      <SnippetChoice />
    </Card>
  )
}

const PLACEHOLDER = 'YOUR_API_KEY'

/**
 * Shows the example of one client, with the API key if it is known, otherwise with a marked
 * placeholder.
 */
export function SnippetChoice({ apiKey = PLACEHOLDER }: { apiKey?: string }) {
  const { data: models } = useQuery(modelsQuery)
  const [chosen, setChosen] = useState('curl')
  const defaultProvider = models?.providers.find(
    ({ provider }) => provider === models.default_provider,
  )
  const groups = snippetGroups({
    origin: location.origin,
    model: defaultProvider?.default_model ?? 'YOUR_MODEL',
    key: apiKey,
    brand: BRAND,
  })
  const snippets = groups.flatMap((one) => one.snippets)
  const shown = snippets.find(({ id }) => id === chosen) ?? snippets[0]
  if (shown === undefined) return null
  const { name, place, text } = shown
  return (
    <>
      <Select
        label={t('Client')}
        maw={320}
        allowDeselect={false}
        data={groups.map((one) => ({
          group: one.group,
          items: one.snippets.map(({ id, name }) => ({ value: id, label: name })),
        }))}
        value={chosen}
        onChange={(value) => setChosen(value ?? 'curl')}
      />
      {place !== undefined && (
        <Text size="sm" c="dimmed" mt="xs">
          {place}
        </Text>
      )}
      <div className={classes.panel ?? ''}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
        <pre className={classes.code} tabIndex={0}>
          <code>{markPlaceholder(text)}</code>
        </pre>
        <div className={classes.copy}>
          <CopyIcon value={text} what={t('the {0} example', name)} />
        </div>
      </div>
      {apiKey === PLACEHOLDER && (
        <Text size="sm" mt="xs">
          {rich(
            'Replace {0} with your API key before you run this. We show a key only once, when you create it.',
            <mark>{PLACEHOLDER}</mark>,
          )}
        </Text>
      )}
    </>
  )
}

function markPlaceholder(text: string): ReactNode {
  return text.split(PLACEHOLDER).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never move.
    <Fragment key={index}>
      {index > 0 && <mark>{PLACEHOLDER}</mark>}
      {part}
    </Fragment>
  ))
}
