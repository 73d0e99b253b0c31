import { Box, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './door.module.css'
import { Mark } from './logo.tsx'
import { useTitle } from './title.ts'

type DoorProps = { title: string; lead?: ReactNode; children: ReactNode; after?: ReactNode }

/** The frame of the pages at the front door: sign-in, sign-up, and what mailed links lead to. */
export function Door({ title, lead, children, after }: DoorProps) {
  useTitle(title)
  return (
    <Box className={classes.place}>
      <Box className={classes.door}>
        <Box className={classes.plate}>
          <Mark width={30} height={30} />
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
      {after && (
        <Text component="div" c="dimmed" size="sm" ta="center" mt="xs" className={classes.after ?? ''}>
          {after}
        </Text>
      )}
    </Box>
  )
}
