import { Box, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './auth-page.module.css'
import { brand } from './brand.ts'
import { Mark } from './logo.tsx'
import { useTitle } from './title.ts'

type AuthPageProps = { title: string; lead?: ReactNode; children: ReactNode; footer?: ReactNode }

/** Layout of the authentication pages: sign-in, registration and emailed links. */
export function AuthPage({ title, lead, children, footer }: AuthPageProps) {
  useTitle(title)
  return (
    <Box className={classes.page}>
      <Box className={classes.card}>
        <Box className={brand.mark === null ? classes.key : classes.logo}>
          <Mark size={brand.mark === null ? 30 : 56} />
        </Box>
        <Title order={1} fz="1.75rem" ta="center">
          {title}
        </Title>
        {lead && (
          <Text c="dimmed" ta="center" mt={6} component="div">
            {lead}
          </Text>
        )}
        <Box mt="xl">{children}</Box>
      </Box>
      {footer && (
        <Text
          component="div"
          c="dimmed"
          size="sm"
          ta="center"
          mt="xs"
          className={classes.footer ?? ''}
        >
          {footer}
        </Text>
      )}
    </Box>
  )
}
