import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chown, lchown, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ignoreMissingFile } from './missing-files.ts'

/**
 * The user that runs PostgreSQL, which refuses to run as root.
 * - `self`: the user of this process. Chosen if this process is not root.
 * - `user`: another user, who then owns the data directory.
 * - `namespace`: root in a user namespace that gives root the user id of `nobody`.
 *
 * If this process is root, `user` is preferred, unless root owns the data directory already. If the
 * preferred kind cannot reach the data directory or PostgreSQL's programs, the other is chosen.
 */
export type PostgresOsUser =
  | { kind: 'self' }
  | { kind: 'user'; uid: number; gid: number }
  | { kind: 'namespace' }

const nobody = { kind: 'user', uid: 65_534, gid: 65_534 } as const

/**
 * The user that `choosePostgresOsUserAndChown` prefers for a new data directory if this process is
 * root. No system gives this user id to an account. This matters because any process of the same
 * user could read the database's files and log in to the database.
 */
const databaseUser = { kind: 'user', uid: 65_525, gid: 65_525 } as const

/**
 * Returns the user that must run PostgreSQL on the data directory `dir`. If this process is root,
 * also makes this user the owner of `dir`. Prefers the user that owns `dir` already, so that every
 * start chooses the same user. Throws when no suitable user can reach `dir`.
 */
export async function choosePostgresOsUserAndChown(
  dir: string,
  postgres: string
): Promise<PostgresOsUser> {
  if (process.getuid?.() !== 0) return { kind: 'self' }
  const owner = await ownerOf(dir)
  // an earlier release gave the directory to the user `nobody`
  const isChosen = owner && owner.uid !== 0 && owner.uid !== nobody.uid
  const user: PostgresOsUser = isChosen ? { kind: 'user', ...owner } : databaseUser
  const namespace: PostgresOsUser = { kind: 'namespace' }
  for (const as of owner?.uid === 0 ? [namespace, user] : [user, namespace]) {
    if (await canReach(as, dirname(dir), postgres)) {
      await changeOwner(dir, as)
      return as
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, user ${user.uid} cannot reach ${dirname(dir)} or node_modules, and user namespaces are not allowed here: start as an ordinary user, or move the folder to where everyone may enter.`
  )
}

/**
 * Returns the user that must run `initdb` if `postgresUser` is the user that runs PostgreSQL.
 * Returns the user `nobody` if `postgresUser` is `databaseUser`, because `initdb` fails for a user
 * id without a user name. Otherwise returns `postgresUser`.
 */
export function chooseInitdbUser(postgresUser: PostgresOsUser): PostgresOsUser {
  return postgresUser.kind === 'user' && postgresUser.uid === databaseUser.uid
    ? nobody
    : postgresUser
}

/**
 * Makes the user `newOwner` the owner of a directory and its contents. Must only be called while
 * PostgreSQL does not run.
 */
export async function changeOwner(dir: string, newOwner: PostgresOsUser) {
  const owner = await ownerOf(dir)
  if (newOwner.kind === 'self' || !owner) return
  const { uid, gid } = newOwner.kind === 'user' ? newOwner : { uid: 0, gid: 0 }
  if (owner.uid === uid) return
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), uid, gid)
  }
  // last, because the next start takes the owner of the directory as proof that the rest is done
  await chown(dir, uid, gid)
}

/** Runs a program to its end as the user `as`. Throws when the program fails. */
export async function runAs(as: PostgresOsUser, file: string, args: string[]): Promise<void> {
  const command = commandOf(as, file, args)
  await promisify(execFile)(command.file, command.args, command.options)
}

/**
 * Starts a program as the user `as`. Its process outlives this one and writes its output to the
 * file descriptor `output`.
 */
export function spawnAs(
  as: PostgresOsUser,
  file: string,
  args: string[],
  output: number
): ChildProcess {
  const command = commandOf(as, file, args)
  // detached: Ctrl-C reaches the whole process group, and the database must outlive the application
  return spawn(command.file, command.args, {
    ...command.options,
    detached: true,
    stdio: ['ignore', output, output]
  })
}

function commandOf(as: PostgresOsUser, file: string, args: string[]) {
  const options = {
    cwd: '/',
    // none of our variables, because they contain secrets, and `PG…` variables change the server's
    // behavior
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
    ...(as.kind === 'user' && { uid: as.uid, gid: as.gid })
  }
  if (as.kind !== 'namespace') return { file, args, options }
  const map = ['--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--']
  return { file: 'unshare', args: [...map, file, ...args], options }
}

/**
 * Returns whether a user can enter `folder` and run the program `postgres`. Tries it, because
 * permissions, mount options and sandboxes can all forbid it.
 */
async function canReach(as: PostgresOsUser, folder: string, postgres: string): Promise<boolean> {
  const script = 'cd "$1" && exec "$2" --version'
  return runAs(as, '/bin/sh', ['-c', script, 'sh', folder, postgres]).then(
    () => true,
    () => false
  )
}

async function ownerOf(dir: string): Promise<{ uid: number; gid: number } | undefined> {
  const found = await stat(dir).catch(ignoreMissingFile)
  return found && { uid: found.uid, gid: found.gid }
}
