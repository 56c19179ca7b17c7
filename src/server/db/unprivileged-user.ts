import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chown, lchown, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ignoreMissingFile } from './missing-files.ts'

/**
 * PostgreSQL refuses to run as root. `user` owns the data directory; `namespace` is root in a user
 * namespace that gives root the user id of `nobody`.
 */
export type PostgresOsUser =
  | { kind: 'self' }
  | { kind: 'user'; uid: number; gid: number }
  | { kind: 'namespace' }

const nobody = { kind: 'user', uid: 65_534, gid: 65_534 } as const

// No system gives this user id to an account. Any process of the same user could read the
// database's files.
const databaseUser = { kind: 'user', uid: 65_525, gid: 65_525 } as const

/**
 * Also makes this user the owner of `dir`, and prefers its present owner, so that every start
 * chooses the same user. Throws if no suitable user can reach `dir`.
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

/** `initdb` fails for a user id without a user name, such as that of `databaseUser`. */
export function chooseInitdbUser(postgresUser: PostgresOsUser): PostgresOsUser {
  return postgresUser.kind === 'user' && postgresUser.uid === databaseUser.uid
    ? nobody
    : postgresUser
}

/** Must only be called while PostgreSQL does not run. */
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

export async function runAs(as: PostgresOsUser, file: string, args: string[]): Promise<void> {
  const command = commandOf(as, file, args)
  await promisify(execFile)(command.file, command.args, command.options)
}

/** The process outlives this one and writes its output to the file descriptor `output`. */
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

// tried, because permissions, mount options and sandboxes can all forbid it
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
