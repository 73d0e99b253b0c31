import { Card, Select, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { modelsQuery } from '../chat/models-query.ts'
import { BRAND } from '../components/brand.ts'
import { CopyIcon } from '../components/copy.tsx'
import { snippetGroups } from './snippet-text.ts'
import classes from './snippets.module.css'

/** How to call the service with a key, with this service's own address in it. */
export function Snippets() {
  return (
    <Card component="section" aria-labelledby="snippets">
      <Title order={2} fz="h3" id="snippets">
        Use a key
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        Clients of OpenAI and of Anthropic work once their base address is this service’s, with
        every vendor’s models. Put your key in place of YOUR_KEY.
      </Text>
      <SnippetChoice />
    </Card>
  )
}

/** One client's example at a time; with `apiKey` it runs as it stands. */
export function SnippetChoice({ apiKey = 'YOUR_KEY' }: { apiKey?: string }) {
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
        label="Client"
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
          <code>{text}</code>
        </pre>
        <div className={classes.copy}>
          <CopyIcon value={text} what={`the ${name} example`} />
        </div>
      </div>
    </>
  )
}
