import { Button, Group, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import { sentence } from '../api/problem.ts'
import { Panel } from './panel.tsx'

export function DataExport() {
  const download = useMutation({ mutationFn: exportData })
  return (
    <Panel title="Export" lead="Your account as a JSON file.">
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          Download
        </Button>
        {download.isError && (
          <Text c="var(--mantine-color-error)" role="alert">
            {sentence(download.error)}
          </Text>
        )}
      </Group>
    </Panel>
  )
}

/** By fetch and an object URL, since a plain link would carry no access token. */
async function exportData() {
  const response = await request('GET', '/api/users/me/export')
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download =
    /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'latchkey-export.json'
  link.click()
  URL.revokeObjectURL(url)
}
