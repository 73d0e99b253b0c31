import { ActionIcon, Badge, Text } from '@mantine/core'
import { IconDots, IconPencil, IconRotate, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKey } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { formatAge, formatDay, formatTime } from '../components/format.ts'
import { Menu } from '../components/menu.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { EditKey } from './edit-key.tsx'
import { describeLimits } from './key-settings.ts'
import { RotateKey } from './rotate-key.tsx'

export function KeyTable({ keys }: { keys: ApiKey[] }) {
  const focus = useReturnFocus()
  const [toEdit, setToEdit] = useState<ApiKey | null>(null)
  const [toRotate, setToRotate] = useState<ApiKey | null>(null)
  const [toRevoke, setToRevoke] = useState<ApiKey | null>(null)
  const close = (clear: (key: null) => void) => {
    clear(null)
    focus.restore()
  }
  return (
    <>
      <DataTable
        label={t('Keys')}
        verticalSpacing="sm"
        miw={{ base: 0, sm: 560 }}
        highlightOnHover={false}
        rows={keys}
        getKey={({ id }) => id}
        columns={[
          ...COLUMNS,
          {
            head: t('Actions'),
            hasButtons: true,
            w: 60,
            cell: (key) => (
              <Menu
                label={t('Actions for {0}', key.name)}
                button={(target) => (
                  <ActionIcon
                    {...target}
                    aria-label={t('Actions for {0}', key.name)}
                    onClick={(event) => focus.remember(event.currentTarget)}
                  >
                    <IconDots size={20} aria-hidden />
                  </ActionIcon>
                )}
                groups={[
                  [
                    { label: t('Edit'), icon: IconPencil, onSelect: () => setToEdit(key) },
                    {
                      label: t('Rotate'),
                      icon: IconRotate,
                      disabled: !key.is_active,
                      onSelect: () => setToRotate(key),
                    },
                    {
                      label: t('Revoke'),
                      icon: IconTrash,
                      disabled: !key.is_active,
                      isDangerous: true,
                      onSelect: () => setToRevoke(key),
                    },
                  ],
                ]}
              />
            ),
          },
        ]}
      />
      {toRotate && <RotateKey apiKey={toRotate} onClose={() => close(setToRotate)} />}
      {toEdit && (
        <EditKey
          apiKey={toEdit}
          isLive={readKeyState(toEdit) === 'active'}
          onClose={() => close(setToEdit)}
        />
      )}
      <Confirm
        opened={toRevoke !== null}
        onClose={() => close(setToRevoke)}
        title={t('Revoke this key?')}
        action={t('Revoke')}
        onConfirm={async () => {
          if (toRevoke)
            await api.delete('/api/api-keys/{key_id}', undefined, { path: { key_id: toRevoke.id } })
          await queries.invalidateQueries({ queryKey: keysQuery.queryKey })
        }}
      >
        {rich(
          'Programs that use {0} stop working immediately. You can’t undo this. Its usage history is kept.',
          <b>{toRevoke?.name}</b>,
        )}
      </Confirm>
    </>
  )
}

const COLUMNS: Column<ApiKey>[] = [
  {
    head: t('Name'),
    cell: (key) => (
      <>
        <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
          {key.name}
        </Text>
        <KeyState apiKey={key} />
        <KeyLimits apiKey={key} />
        <Text c="dimmed" size="sm" hiddenFrom="sm">
          {key.last_used_at ? t('Used {0}', formatAge(key.last_used_at)) : t('Never used')}
          {key.expires_at && t(', expires {0}', formatDay(key.expires_at))}
        </Text>
      </>
    ),
  },
  { head: t('Key'), cell: ({ key_prefix }) => <span className="mono">{key_prefix}…</span> },
  {
    head: t('Last used'),
    visibleFrom: 'sm',
    title: ({ last_used_at }) => (last_used_at ? formatTime(last_used_at) : undefined),
    cell: ({ last_used_at }) => (last_used_at ? formatAge(last_used_at) : t('Never')),
  },
  {
    head: t('Expires'),
    visibleFrom: 'sm',
    cell: ({ expires_at }) => (expires_at ? formatDay(expires_at) : t('Never')),
  },
]

const STATES = {
  revoked: { name: t('Revoked'), color: 'gray' },
  expired: { name: t('Expired'), color: 'red' },
  active: { name: t('Active'), color: 'pine' },
} as const

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const { name, color } = STATES[readKeyState(apiKey)]
  return <Badge color={color}>{name}</Badge>
}

function readKeyState({ is_active, expires_at }: ApiKey): keyof typeof STATES {
  if (!is_active) return 'revoked'
  return expires_at && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active'
}

function KeyLimits({ apiKey }: { apiKey: ApiKey }) {
  const limits = describeLimits(apiKey)
  if (limits.length === 0) return null
  return (
    <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
      {limits.join(' · ')}
    </Text>
  )
}
