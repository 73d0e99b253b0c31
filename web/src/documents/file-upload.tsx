import '@mantine/dropzone/styles.layer.css'
import { Group, Stack, Switch, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { IconFileUpload, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { FORMAT_NAMES } from '#rag/ingest/parsers/formats.ts'
import { UploadRow } from './upload-row.tsx'
import { useUploads } from './uploads.ts'

export function FileUpload() {
  const uploads = useUploads()
  const [replaces, setReplaces] = useState(false)
  return (
    <>
      <Dropzone
        onDrop={(files) => uploads.add(files, replaces)}
        onReject={(rejected) =>
          uploads.add(
            rejected.map(({ file }) => file),
            replaces,
          )
        }
        radius="lg"
        inputProps={{ 'aria-label': 'Choose files to upload' }}
        acceptColor="pine"
      >
        <Group justify="center" gap="lg" mih={120} wrap="nowrap" style={{ pointerEvents: 'none' }}>
          <Dropzone.Reject>
            <IconX size={40} stroke={1.4} aria-hidden />
          </Dropzone.Reject>
          <IconFileUpload
            size={40}
            stroke={1.4}
            aria-hidden
            color="var(--latch-brass)"
            style={{ flexShrink: 0 }}
          />
          <div>
            <Text fw={600}>Drop files here, or click to choose</Text>
            <Text c="dimmed" size="sm">
              {FORMAT_NAMES}
            </Text>
          </div>
        </Group>
      </Dropzone>
      <Switch
        mt="md"
        label="Replace documents with the same name"
        checked={replaces}
        onChange={(event) => setReplaces(event.currentTarget.checked)}
      />
      {uploads.rows.length > 0 && (
        <Stack
          component="ul"
          gap="xs"
          mt="md"
          p={0}
          aria-label="Uploads"
          style={{ listStyle: 'none' }}
        >
          {uploads.rows.map((row) => (
            <UploadRow
              key={row.id}
              row={row}
              onRetry={() => uploads.retry(row.id)}
              onRemove={() => uploads.remove(row.id)}
            />
          ))}
        </Stack>
      )}
    </>
  )
}
