import { Button, Checkbox, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyText } from '../parts/copy.tsx'

/** Shown once, like a key: closes by its own button alone. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const [stored, setStored] = useState(false)
  return (
    <Stack>
      <Text>
        Two-factor is on. Each of these opens your account once when your phone does not. They are not shown again.
      </Text>
      <SimpleGrid
        cols={2}
        component="ul"
        p="md"
        m={0}
        bg="var(--latch-wash)"
        style={{ borderRadius: 12, listStyle: 'none' }}
      >
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </SimpleGrid>
      <Group>
        <CopyText value={codes.join('\n')}>Copy all</CopyText>
      </Group>
      <Checkbox
        size="md"
        label="I have stored these codes"
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
