import { Card, Tabs, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { modelsQuery } from '../chat/models-query.ts'
import { CopyIcon } from '../components/copy.tsx'
import { snippets } from './snippet-text.ts'
import classes from './snippets.module.css'

/** How to call the service with a key, with this service's own address in it. */
export function Snippets() {
  const { data: models } = useQuery(modelsQuery)
  const taken = models?.providers.find(({ provider }) => provider === models.default_provider)
  const list = snippets(location.origin, taken?.default_model)
  return (
    <Card component="section" aria-labelledby="snippets">
      <Title order={2} fz="h3" id="snippets">
        Use a key
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        Any OpenAI client works once its base address is this service’s. Put your key in place of YOUR_KEY.
      </Text>
      <Tabs defaultValue={list[0]?.id ?? ''}>
        <Tabs.List>
          {list.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {list.map(({ id, name, text }) => (
          <Tabs.Panel key={id} value={id} className={classes.panel ?? ''}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
            <pre className={classes.code} tabIndex={0}>
              <code>{text}</code>
            </pre>
            <div className={classes.copy}>
              <CopyIcon value={text} what={`the ${name} example`} />
            </div>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Card>
  )
}
