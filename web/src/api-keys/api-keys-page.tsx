import { Button, Skeleton, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/queries.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { KeyTable } from './key-table.tsx'
import { NewKey } from './new-key.tsx'
import { Snippets } from './snippets.tsx'

export function ApiKeysPage() {
  const isGranted = useUser().entitlements.includes('api_keys')
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Page
      wide
      title={t('API keys')}
      lead={t('Keys can call models and search your documents. They can’t change your account.')}
      actions={
        isGranted && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={open}>
            {t('Create key')}
          </Button>
        )
      }
    >
      <RequireEntitlement entitlement="api_keys" what={t('API keys')}>
        <Keys />
        <NewKey opened={opened} onClose={close} />
      </RequireEntitlement>
    </Page>
  )
}

function Keys() {
  const keys = useQuery(keysQuery)
  return (
    <Stack>
      <section aria-label={t('Your keys')}>
        <Loaded query={keys} skeleton={<Skeleton h={160} />}>
          {(list) =>
            list.length === 0 ? (
              <Notice icon={IconKey} title={t('No API keys yet')}>
                {t('Create one key per program, so you can revoke each on its own.')}
              </Notice>
            ) : (
              <KeyTable keys={list} />
            )
          }
        </Loaded>
      </section>
      <Snippets />
    </Stack>
  )
}
