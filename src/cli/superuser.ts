import { addSuperuser } from '#identity/admin/superuser.ts'
import type { Context } from './context.ts'

/**
 * `superuser add EMAIL` promotes an account, or creates it and prints the link that sets its
 * password.
 */
export async function run([verb, email]: string[], { platform, print }: Context): Promise<number> {
  if (
    verb !== 'add' ||
    email === undefined ||
    !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) ||
    email.length > 254
  ) {
    print('Usage: superuser add EMAIL')
    return 2
  }
  const { user, made, setPasswordLink } = await addSuperuser(await platform(), email)
  print(made ? `${user.email} was created and is a superuser` : `${user.email} is a superuser`)
  if (setPasswordLink) print(`Set the password within an hour: ${setPasswordLink}`)
  return 0
}
