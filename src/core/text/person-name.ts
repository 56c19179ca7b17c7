/** The username or, without one, the e-mail. */
export function personName({ username, email }: { username: string; email: string }): string {
  return username || email
}
