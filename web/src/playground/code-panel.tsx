import { Button, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { NewKey } from '../api-keys/new-key.tsx'
import { t } from '../language/text.ts'
import { CodeBlock } from '../markdown/code-block.tsx'
import { useUser } from '../session/user.ts'
import { CLIENTS, writeCode } from './code.ts'
import type { Playground } from './use-playground.ts'

const PLACEHOLDER = 'YOUR_API_KEY'

/** The request as a program. It contains a key only while the page that created the key is open. */
export function CodePanel({ request: { body, isSent } }: Pick<Playground, 'request'>) {
  const [client, setClient] = useState<(typeof CLIENTS)[number]>(CLIENTS[0])
  const [key, setKey] = useState(PLACEHOLDER)
  const [opened, { open, close }] = useDisclosure(false)
  const canCreate = useUser().entitlements.includes('api_keys')
  return (
    <Stack gap="sm">
      <Select
        label={t('Client')}
        description={
          isSent ? t('The last request, as sent') : t('The next request, as you write it')
        }
        allowDeselect={false}
        data={CLIENTS.map(({ value, label }) => ({ value, label }))}
        value={client.value}
        onChange={(value) => setClient(CLIENTS.find((one) => one.value === value) ?? CLIENTS[0])}
      />
      <CodeBlock
        code={writeCode(client.value, body, { origin: location.origin, key })}
        language={client.language}
      />
      {key === PLACEHOLDER && (
        <>
          <Text size="sm" c="dimmed">
            {t('Replace {0} with your API key before you run this.', PLACEHOLDER)}
          </Text>
          {canCreate && (
            <Button
              variant="default"
              leftSection={<IconKey size={18} aria-hidden />}
              onClick={open}
            >
              {t('Create a key for this code')}
            </Button>
          )}
        </>
      )}
      <NewKey opened={opened} onClose={close} onCreated={setKey} />
    </Stack>
  )
}
