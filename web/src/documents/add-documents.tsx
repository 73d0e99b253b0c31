import { Card, Tabs } from '@mantine/core'
import { IconClipboardText, IconUpload } from '@tabler/icons-react'
import { FileUpload } from './file-upload.tsx'
import { PasteText } from './paste-text.tsx'

export function AddDocuments() {
  return (
    <Card component="section" aria-label="Add documents">
      <Tabs defaultValue="files" keepMounted>
        <Tabs.List mb="md">
          <Tabs.Tab value="files" leftSection={<IconUpload size={18} aria-hidden />}>
            Upload files
          </Tabs.Tab>
          <Tabs.Tab value="text" leftSection={<IconClipboardText size={18} aria-hidden />}>
            Paste text
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="files">
          <FileUpload />
        </Tabs.Panel>
        <Tabs.Panel value="text">
          <PasteText />
        </Tabs.Panel>
      </Tabs>
    </Card>
  )
}
