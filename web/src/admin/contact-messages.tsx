import { Anchor, Badge, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { ContactSubject } from '../api/types.ts'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Pages, usePage } from './pages.tsx'

const SUBJECTS: Record<ContactSubject, string> = {
  sales: 'Sales Inquiry',
  support: 'Technical Support',
  enterprise: 'Enterprise Solutions',
  partnership: 'Partnership',
  other: 'General Inquiry',
}

export function ContactMessages() {
  const page = usePage()
  const messages = useQuery({
    queryKey: ['admin', 'messages', page],
    queryFn: ({ signal }) =>
      api.get('/api/admin/contact-messages', { query: { page, limit: 20 }, signal }),
    placeholderData: (previous) => previous,
  })
  return (
    <section>
      <Loaded query={messages} skeleton={<Skeleton h={240} />}>
        {(data) =>
          data.messages.length === 0 ? (
            <Notice icon={IconInbox} title="No messages">
              Messages from the contact form appear here, even when email fails.
            </Notice>
          ) : (
            <>
              <Stack gap="sm">
                {data.messages.map((message) => (
                  <Paper key={message.id} withBorder radius="md" p="md" component="article">
                    <Group justify="space-between" mb={6} gap="xs">
                      <Text fw={550}>
                        {message.name}{' '}
                        <Anchor href={`mailto:${message.email}`} inherit>
                          {message.email}
                        </Anchor>
                      </Text>
                      <Group gap="xs">
                        {message.notified_at === null && (
                          <Badge color="brass">Email not sent yet</Badge>
                        )}
                        <Badge color="gray">{SUBJECTS[message.subject]}</Badge>
                        <Text c="dimmed" size="sm">
                          {formatTime(message.created_at)}
                        </Text>
                      </Group>
                    </Group>
                    <Text dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                      {message.message}
                    </Text>
                  </Paper>
                ))}
              </Stack>
              <Pages paged={data} what="message" />
            </>
          )
        }
      </Loaded>
    </section>
  )
}
