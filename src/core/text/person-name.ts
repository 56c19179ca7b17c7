/** Returns the name of a person as pages show it: the username or, without one, the e-mail. */
export function personName({ username, email }: { username: string; email: string }): string {
  return username || email
}
