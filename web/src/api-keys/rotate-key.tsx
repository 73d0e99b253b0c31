import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKey } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { LOCKED } from '../components/shown-once.tsx'
import { t } from '../language/text.ts'
import { ShownKey } from './shown-key.tsx'

const GRACE_PERIODS = [
  { value: '0', label: t('Immediately') },
  { value: '3600', label: t('In 1 hour') },
  { value: '86400', label: t('In 1 day') },
  { value: '604800', label: t('In 1 week') },
]

/**
 * Gives a key a new secret and shows it once. The old secret works for a while, so programs can
 * switch one by one.
 */
export function RotateKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [grace, setGrace] = useState('86400')
  const rotate = useMutation({
    mutationFn: () =>
      api.post(
        '/api/api-keys/{key_id}/rotate',
        { grace_seconds: Number(grace) },
        { path: { key_id: apiKey.id } },
      ),
    onSuccess: () => void queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })

  if (rotate.data) {
    return (
      <Modal {...LOCKED} opened title={t('New secret for “{0}”', apiKey.name)} size="lg">
        <ShownKey made={rotate.data} onDone={onClose} />
      </Modal>
    )
  }
  return (
    <Modal opened onClose={onClose} title={t('Rotate “{0}”?', apiKey.name)}>
      <Stack>
        <Text>
          {t('The key gets a new secret. Its name, limits and usage history stay the same.')}
        </Text>
        <Select
          label={t('Old key expires')}
          data={GRACE_PERIODS}
          value={grace}
          onChange={(value) => value !== null && setGrace(value)}
          data-autofocus
        />
        <FormProblem problem={rotate.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
            {t('Rotate')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
