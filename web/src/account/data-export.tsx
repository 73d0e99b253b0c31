import { Button, Group, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { saveFile } from '../components/save-file.ts'
import { t } from '../language/text.ts'
import { Panel } from './panel.tsx'

export function DataExport() {
  const download = useMutation({ mutationFn: exportData })
  return (
    <Panel
      title={t('Export')}
      lead={t('Download your account as JSON, or all your data as a ZIP of JSON files.')}
    >
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending && !download.variables}
          onClick={() => download.mutate(false)}
        >
          {t('Account')}
        </Button>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending && download.variables}
          onClick={() => download.mutate(true)}
        >
          {t('Everything')}
        </Button>
        {download.isError && (
          <Text c="var(--mantine-color-error)" role="alert">
            {formatProblem(download.error)}
          </Text>
        )}
      </Group>
    </Panel>
  )
}

async function exportData(full: boolean) {
  const response = await request('GET', '/api/users/me/export', {
    query: full ? { full: true } : {},
  })
  await saveFile(response, full ? 'account.zip' : 'account.json')
}
